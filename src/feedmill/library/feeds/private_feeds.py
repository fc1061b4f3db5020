"""Decides whether a user shares a feed or gets a private one, because a login opens it.

A feed without a login is shared by all who subscribe to it. Whoever brings a login, a cookie or the like gets a feed
of their own, and so does who asks for an address whose feed somebody else's login opens (see
`docs/decisions/subscriptions.md`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from feedmill.collect.pasted_url import MAX_URL_LENGTH
from feedmill.encryption import Encryption, UnreadableSecret
from feedmill.errors import BadInput
from feedmill.lazy_loggers import get_logger
from feedmill.model.encrypted import Encrypted
from feedmill.model.feed import PRIVATE_URL_MARKER, Feed
from feedmill.model.subscription import Subscription
from feedmill.outbound.fetch_options import decrypt_options
from feedmill.store.database import Database
from feedmill.store.feeds.feeds_by_url import feed_ids_by_any_url
from feedmill.store.feeds.read_feeds import feeds_of_ids
from feedmill.store.lots import LOT, lots
from feedmill.store.subscriptions.subscriptions import subscription_ids_by_feed

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class FeedTarget:
    """The feed's row: its URL as it is kept, and its id if it is here already."""

    url: str
    feed_id: int | None = None


async def find_feed_target(db: Database, user_id: int, url: str, *, has_login: bool) -> FeedTarget:
    """Where the feed of this address stands for this user."""
    return (await find_feed_targets(db, user_id, {url: has_login}))[url]


async def find_feed_targets(db: Database, user_id: int, wanted: Mapping[str, bool]) -> dict[str, FeedTarget]:
    """By address the feed that it stands for, for many at once; the values say whether the user brings a login."""
    shared = await _feeds_at(db, list(wanted))
    places = {url: _shared(url, shared.get(url)) for url, has_login in wanted.items() if not has_login}
    private = [url for url in wanted if url not in places or not _may_share(shared.get(url))]
    own = {url: private_url(url, user_id) for url in private}
    there = await _feeds_at(db, list(own.values()))
    return places | {url: _shared(mine, there.get(mine)) for url, mine in own.items()}


def private_url(url: str, user_id: int) -> str:
    """The URL under which a user's own feed is kept."""
    own = f"{url}{PRIVATE_URL_MARKER}{user_id}"
    if len(own) > MAX_URL_LENGTH:
        raise BadInput(f"the URL is longer than {MAX_URL_LENGTH} characters", "url")
    return own


def readable_options(encryption: Encryption, kept: Encrypted | None) -> str | None:
    """The options in a row as a form made them; None when the key is missing, so that they can be entered again."""
    try:
        return decrypt_options(encryption, kept)
    except UnreadableSecret as error:
        log.error("secret_unreadable", reason=str(error))
        return None


async def read_login(db: Database, encryption: Encryption, subscription: Subscription) -> str | None:
    """The options with which the subscriber's own feed is asked for; None for a shared feed."""
    if not subscription.is_private:
        return None
    [feed] = await feeds_of_ids(db, [subscription.feed_id])
    return readable_options(encryption, feed.http_options)


async def subscription_ids_by_url(
    db: Database, user_id: int, urls: Sequence[str], *, has_login: bool
) -> dict[str, int]:
    """By address the user's subscription to the feed there; addresses without one are left out."""
    targets = await find_feed_targets(db, user_id, dict.fromkeys(urls, has_login))
    feed_ids = [target.feed_id for target in targets.values() if target.feed_id]
    mine = await subscription_ids_by_feed(db, user_id, feed_ids)
    return {url: mine[target.feed_id] for url, target in targets.items() if target.feed_id in mine}


def _may_share(feed: Feed | None) -> bool:
    return feed is None or feed.http_options is None


def _shared(url: str, feed: Feed | None) -> FeedTarget:
    return FeedTarget(url) if feed is None else FeedTarget(feed.url, feed.id)


async def _feeds_at(db: Database, urls: Sequence[str]) -> dict[str, Feed]:
    ids = await feed_ids_by_any_url(db, urls)
    found = {feed.id: feed for lot in lots(list(ids.values()), LOT) for feed in await feeds_of_ids(db, list(lot))}
    return {url: found[feed_id] for url, feed_id in ids.items() if feed_id in found}
