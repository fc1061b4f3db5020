"""Finds the feed that was named on the command line by its id or URL."""

from feedmill.errors import CallerError
from feedmill.model.feed import Feed
from feedmill.model.max_id import MAX_ID
from feedmill.outbound.user_urls import BadUrl, parse_user_url
from feedmill.store.database import Database
from feedmill.store.feeds.feeds_by_url import feed_ids_by_any_url
from feedmill.store.feeds.read_feeds import feeds_of_ids


class UnknownFeed(CallerError):
    """There is no such feed."""


async def find_feed(db: Database, name: str) -> Feed:
    """The feed with that id, URL or former URL; raises `UnknownFeed`."""
    found = await feeds_of_ids(db, await _ids(db, name))
    if not found:
        raise UnknownFeed(f"there is no feed {name}: 'feedmill feeds' lists all feeds")
    return found[0]


def read_id(text: str) -> int | None:
    """The number if it can be an id, else None. The length is checked because int() refuses thousands of digits."""
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(MAX_ID))):
        return None
    return int(text) if int(text) <= MAX_ID else None


async def _ids(db: Database, name: str) -> list[int]:
    if name.isascii() and name.isdecimal():
        number = read_id(name)
        return [number] if number is not None else []
    try:
        url = parse_user_url(name).url
    except BadUrl:
        return []
    return list((await feed_ids_by_any_url(db, [url])).values())
