"""Which feed a person may share, and which must be theirs alone.

A feed without a login is shared by all who subscribe to it. Whoever brings a login, a cookie or the like gets a feed
of their own, and so does who asks for an address whose feed somebody else's login opens (see
`docs/decisions/subscriptions.md`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from feedmill.collect.address import LONGEST
from feedmill.errors import BadInput
from feedmill.model.feed import PRIVATE_MARK, Feed
from feedmill.outbound.options import FetchOptions
from feedmill.store.additions import LOT, ids_of_urls, lots
from feedmill.store.database import Database
from feedmill.store.feeds import feeds_of_ids


@dataclass(frozen=True, slots=True)
class Place:
    """The feed's row: its URL as it is kept, and its id if it is here already."""

    url: str
    feed_id: int | None = None


@dataclass(frozen=True, slots=True)
class Login:
    """What is shown of how a feed is asked for: nothing that opens it."""

    name: str | None
    user_agent: str | None
    has_cookie: bool
    has_proxy: bool
    header_names: tuple[str, ...]
    verify_tls: bool


async def place_of(db: Database, user_id: int, url: str, http_options: str | None) -> Place:
    """Where the feed of this address stands for this user."""
    return (await places_of(db, user_id, {url: http_options}))[url]


async def places_of(db: Database, user_id: int, wanted: Mapping[str, str | None]) -> dict[str, Place]:
    """By address the feed that it stands for, for many at once; the values are HTTP options."""
    shared = await _feeds_at(db, list(wanted))
    places = {url: _shared(url, shared.get(url)) for url, options in wanted.items() if options is None}
    private = [url for url in wanted if url not in places or not _may_share(shared.get(url))]
    own = {url: private_url(url, user_id) for url in private}
    there = await _feeds_at(db, list(own.values()))
    return places | {url: _shared(mine, there.get(mine)) for url, mine in own.items()}


def private_url(url: str, user_id: int) -> str:
    """The URL under which a user's own feed is kept."""
    own = f"{url}{PRIVATE_MARK}{user_id}"
    if len(own) > LONGEST:
        raise BadInput(f"the URL is longer than {LONGEST} characters", "url")
    return own


def show_options(http_options: str | None) -> Login | None:
    if http_options is None:
        return None
    options = msgspec.json.decode(http_options, type=FetchOptions)
    return Login(
        name=options.basic_auth[0] if options.basic_auth else None,
        user_agent=options.user_agent,
        has_cookie=options.cookie is not None,
        has_proxy=options.proxy is not None,
        header_names=tuple(options.headers),
        verify_tls=options.verify_tls,
    )


def _may_share(feed: Feed | None) -> bool:
    return feed is None or feed.http_options is None


def _shared(url: str, feed: Feed | None) -> Place:
    return Place(url) if feed is None else Place(feed.url, feed.id)


async def _feeds_at(db: Database, urls: Sequence[str]) -> dict[str, Feed]:
    ids = await ids_of_urls(db, urls)
    found = {feed.id: feed for lot in lots(list(ids.values()), LOT) for feed in await feeds_of_ids(db, list(lot))}
    return {url: found[feed_id] for url, feed_id in ids.items() if feed_id in found}
