"""Looks up feeds by the ids or URLs that a user typed."""

from collections.abc import Sequence

from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.outbound.user_urls import BadUrl, parse_user_url
from feedmill.store.database import Database
from feedmill.store.feeds.feeds_by_url import feed_ids_by_any_url
from feedmill.store.feeds.read_feeds import feeds_of_ids

LONGEST_ID = 15


class NoSuchFeed(BadInput):
    """There is no such feed."""


async def find_feed_ids(db: Database, names: Sequence[str]) -> list[int]:
    """The ids of these feeds, each once; raises `NoSuchFeed` if one of them does not exist."""
    numbers = [int(name) for name in names if _is_id(name)]
    known = {feed.id for feed in await feeds_of_ids(db, numbers)} if numbers else set()
    urls = [_url(name) for name in names if not _is_id(name)]
    by_url = await feed_ids_by_any_url(db, urls) if urls else {}
    missing = [str(id) for id in numbers if id not in known] + [url for url in urls if url not in by_url]
    if missing:
        raise NoSuchFeed(Message("error.unknown_feed", feed=missing[0]), field="feeds")
    return sorted(known | set(by_url.values()))


async def feed_references(db: Database, ids: Sequence[int]) -> list[str]:
    """The URLs of these feeds; private feeds by their ids."""
    feeds = await feeds_of_ids(db, list(ids)) if ids else []
    return [str(feed.id) if feed.is_private else feed.url for feed in feeds]


def _is_id(name: str) -> bool:
    return name.isascii() and name.isdecimal() and len(name) <= LONGEST_ID


def _url(name: str) -> str:
    try:
        return parse_user_url(name).url
    except BadUrl as error:
        raise NoSuchFeed(error.message, field="feeds") from error
