"""Feeds as a person writes them into a form: by their ids or addresses."""

from collections.abc import Sequence

from feedmill.collect.address import BadAddress, read_address
from feedmill.errors import BadInput
from feedmill.model.feed import PRIVATE_MARK
from feedmill.store.additions import ids_of_urls
from feedmill.store.database import Database
from feedmill.store.feeds import feeds_of_ids

LONGEST_ID = 15


class UnknownFeed(BadInput):
    """There is no such feed."""


async def feed_ids_named(db: Database, names: Sequence[str]) -> list[int]:
    """The ids of these feeds, each once; `UnknownFeed` if one of them is none."""
    numbers = [int(name) for name in names if _is_id(name)]
    known = {feed.id for feed in await feeds_of_ids(db, numbers)} if numbers else set()
    urls = [_url(name) for name in names if not _is_id(name)]
    by_url = await ids_of_urls(db, urls) if urls else {}
    missing = [str(id) for id in numbers if id not in known] + [url for url in urls if url not in by_url]
    if missing:
        raise UnknownFeed(f"there is no feed {missing[0]}", field="feeds")
    return sorted(known | set(by_url.values()))


async def names_of_feeds(db: Database, ids: Sequence[int]) -> list[str]:
    """Their addresses; those of whoever has a password of their own by their ids."""
    feeds = await feeds_of_ids(db, list(ids)) if ids else []
    return [str(feed.id) if PRIVATE_MARK in feed.url else feed.url for feed in feeds]


def _is_id(name: str) -> bool:
    return name.isascii() and name.isdecimal() and len(name) <= LONGEST_ID


def _url(name: str) -> str:
    try:
        return read_address(name).url
    except BadAddress as error:
        raise UnknownFeed(str(error), field="feeds") from error
