"""Decides whether a user shares a feed or gets a private one, because it needs a login.

A feed without a login is shared by all its subscribers. A user who adds a login, a cookie or the like gets a private
feed, and so does a user who subscribes to a URL whose feed has a login of another user (see
`docs/decisions/subscriptions.md`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from feedmill.encryption import Encryption, UnreadableSecret
from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.lazy_loggers import get_logger
from feedmill.model.encrypted import Encrypted
from feedmill.model.feed import PRIVATE_URL_MARKER, Feed
from feedmill.model.subscription import Subscription
from feedmill.outbound.encrypted_options import decrypt_options
from feedmill.outbound.user_urls import MAX_URL_LENGTH
from feedmill.store.chunks import CHUNK_SIZE, chunked
from feedmill.store.database import Database
from feedmill.store.feeds.feeds_by_url import feed_ids_by_any_url
from feedmill.store.feeds.read_feeds import feeds_of_ids

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class FeedTarget:
    """The stored URL of a feed, and its id if it exists."""

    url: str
    feed_id: int | None = None


async def find_feed_target(db: Database, user_id: int, url: str, *, has_login: bool) -> FeedTarget:
    """The feed at this URL for this user."""
    return (await find_feed_targets(db, user_id, {url: has_login}))[url]


async def find_feed_targets(db: Database, user_id: int, has_login_by_url: Mapping[str, bool]) -> dict[str, FeedTarget]:
    """By URL the feed for this user; `has_login_by_url` tells whether the user adds a login."""
    shared = await _feeds_at(db, list(has_login_by_url))
    targets = {url: _target(url, shared.get(url)) for url, has_login in has_login_by_url.items() if not has_login}
    private = [url for url in has_login_by_url if url not in targets or not _may_share(shared.get(url))]
    private_urls = {url: private_url(url, user_id) for url in private}
    existing = await _feeds_at(db, list(private_urls.values()))
    return targets | {url: _target(stored_url, existing.get(stored_url)) for url, stored_url in private_urls.items()}


def private_url(url: str, user_id: int) -> str:
    """The URL under which a user's private feed is stored."""
    own = f"{url}{PRIVATE_URL_MARKER}{user_id}"
    if len(own) > MAX_URL_LENGTH:
        raise BadInput(Message("error.url_too_long", most=MAX_URL_LENGTH), "url")
    return own


def readable_options(encryption: Encryption, kept: Encrypted | None) -> str | None:
    """The decrypted options; None if the key is missing, so that they can be entered again."""
    try:
        return decrypt_options(encryption, kept)
    except UnreadableSecret as error:
        log.error("secret_unreadable", reason=str(error))
        return None


async def read_private_http_options(db: Database, encryption: Encryption, subscription: Subscription) -> str | None:
    """The HTTP options of the subscriber's private feed, with their secrets; None for a shared feed."""
    if not subscription.is_private:
        return None
    [feed] = await feeds_of_ids(db, [subscription.feed_id])
    return readable_options(encryption, feed.http_options)


def _may_share(feed: Feed | None) -> bool:
    return feed is None or feed.http_options is None


def _target(url: str, feed: Feed | None) -> FeedTarget:
    return FeedTarget(url) if feed is None else FeedTarget(feed.url, feed.id)


async def _feeds_at(db: Database, urls: Sequence[str]) -> dict[str, Feed]:
    ids = await feed_ids_by_any_url(db, urls)
    found = {
        feed.id: feed
        for chunk in chunked(list(ids.values()), CHUNK_SIZE)
        for feed in await feeds_of_ids(db, list(chunk))
    }
    return {url: found[feed_id] for url, feed_id in ids.items() if feed_id in found}
