"""Decides what a permanent redirect does to a feed: change its URL, merge it or wait.

Within one site the URL of the feed changes. If the redirect leads to another site, or to the URL of another feed, the
subscribers move to the feed there, and the entries stay with the old feed. Else a feed could add entries to another
one, or use its guids before it does.
"""

from dataclasses import replace

from feedmill.encryption import Encryption
from feedmill.model.feed import Feed, FeedStatus
from feedmill.model.hosts import host_of
from feedmill.model.refresh import FeedMove
from feedmill.outbound.encrypted_options import same_options
from feedmill.outbound.host_pacing import registrable_domain
from feedmill.outbound.urls import is_ip_address
from feedmill.store.database import Database
from feedmill.store.feeds.read_feeds import feed_of_url


async def resolve_move(db: Database, encryption: Encryption, feed: Feed, move: FeedMove) -> FeedMove:
    """What a redirect that is settled leads to, given the feed at the new URL."""
    if not move.settled or move.to is None:
        return move
    target = await feed_of_url(db, move.to)
    same_login = same_options(encryption, target.http_options if target else None, feed.http_options)
    return choose_move(feed, move, move.to, target, same_login=same_login)


def choose_move(feed: Feed, move: FeedMove, to: str, target: Feed | None, *, same_login: bool) -> FeedMove:
    """Pure. `target` is the feed at the new URL; `same_login`: both are fetched with the same options."""
    waiting = replace(move, settled=False)
    if target is None and is_same_site(feed.url, to):
        return move
    # A password is only for the readers and the host that it was given for.
    if not same_login:
        return waiting
    if target is None or target.has_moved_away:
        return replace(waiting, needs_target=True)
    if target.status is FeedStatus.DISABLED:
        return waiting
    if not _is_up_to_date(target, feed):
        return replace(waiting, needs_target=True)
    return replace(waiting, merges_with=target.id)


def is_same_site(one: str, other: str) -> bool:
    """Whether both URLs have the same registrable domain; an IP address is a site of its own."""
    return _site(one) == _site(other)


def _is_up_to_date(target: Feed, source: Feed) -> bool:
    """Whether the target was fetched after the source, so that it has all entries that the redirect showed."""
    if target.last_success_at is None:
        return False
    return source.last_success_at is None or target.last_success_at >= source.last_success_at


def _site(url: str) -> str:
    host = host_of(url)
    return host if is_ip_address(host) else registrable_domain(host)
