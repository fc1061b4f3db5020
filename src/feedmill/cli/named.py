"""A feed as a person names it: by its id or its URL."""

from feedmill.collect.address import BadAddress, read_address
from feedmill.errors import CallerError
from feedmill.model.feed import Feed
from feedmill.store.additions import ids_of_urls
from feedmill.store.database import Database
from feedmill.store.feeds import feeds_of_ids

LARGEST_ID = 2**53


class UnknownFeed(CallerError):
    """There is no such feed."""


async def feed_named(db: Database, name: str) -> Feed:
    """The feed with that id or URL, also one that it had before it moved; raises `UnknownFeed`."""
    found = await feeds_of_ids(db, await _ids(db, name))
    if not found:
        raise UnknownFeed(f"there is no feed {name}: 'feedmill feeds' lists those there are")
    return found[0]


def read_id(text: str) -> int | None:
    """The number that a person wrote, if it can be an id; Python would refuse one of thousands of digits."""
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(LARGEST_ID))):
        return None
    return int(text) if int(text) < LARGEST_ID else None


async def _ids(db: Database, name: str) -> list[int]:
    if name.isascii() and name.isdecimal():
        number = read_id(name)
        return [number] if number is not None else []
    try:
        url = read_address(name).url
    except BadAddress:
        return []
    return list((await ids_of_urls(db, [url])).values())
