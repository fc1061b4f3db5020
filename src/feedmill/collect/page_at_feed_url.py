"""Finds the feed of a page that is at the URL of a new feed.

Somebody may subscribe to the URL of a page, if the site is too slow to look at it first. If the page names one feed,
the new feed moves there at once: it has no entries that could be lost. If that feed exists, the subscribers move to it.
"""

import asyncio
from dataclasses import dataclass
from datetime import timedelta

from feedmill.collect.discovery.discover import FetchedFeed, PageFeeds, feed_of_page
from feedmill.collect.feed_moves import is_same_site
from feedmill.collect.fetch import Fetcher
from feedmill.i18n.messages import Message
from feedmill.model.feed import Feed
from feedmill.model.fetch_outcome import Response
from feedmill.model.refresh import FeedMove
from feedmill.store.database import Database
from feedmill.store.feeds.feeds_by_url import feed_ids_by_any_url
from feedmill.store.feeds.read_feeds import feeds_of_ids

# Of a page with more feeds, the message names so many.
NAMED_FEEDS = 5


@dataclass(frozen=True, slots=True)
class FollowedPage:
    """The feed that a page names, and the move to its URL."""

    feed: FetchedFeed
    move: FeedMove


async def follow_page(
    db: Database, web: Fetcher, feed: Feed, page: Response, patience: timedelta
) -> FollowedPage | Message | None:
    """Fetches the feed that the page names, for so long; a message if it names several, None if it leads nowhere."""
    if not _may_follow(feed):
        return None
    try:
        async with asyncio.timeout(patience.total_seconds()):
            found = await feed_of_page(web, page, guesses=False)
    except TimeoutError:
        return None
    match found:
        case FetchedFeed():
            move = await _move_to(db, feed, found.url)
            return FollowedPage(found, move) if move else None
        case PageFeeds():
            urls = " ".join(each.url for each in found.feeds[:NAMED_FEEDS])
            return Message("fetch.several_feeds", count=len(found.feeds), urls=urls)
        case None:
            return None


def _may_follow(feed: Feed) -> bool:
    """Whether the feed is new and shared. A login is only for its URL, and only the feeds file changes its feeds."""
    is_shared = feed.http_options is None and not feed.is_private
    is_new = feed.last_success_at is None and not feed.entry_count
    return is_new and is_shared and not feed.declared


async def _move_to(db: Database, feed: Feed, url: str) -> FeedMove | None:
    """The move of a new feed to this URL; None if the feed there has somebody's login, or might get forged entries.

    A restore replays the earlier bodies of a feed into it, so they must be of the same site.
    """
    ids = await feed_ids_by_any_url(db, [url])
    if not ids:
        is_safe = feed.body_sha256 is None or is_same_site(feed.url, url)
        return FeedMove(url, 1, settled=True) if is_safe else None
    [target] = await feeds_of_ids(db, [ids[url]])
    if target.http_options is not None or target.id == feed.id:
        return None
    return FeedMove(target.url, 1, merges_with=target.id)
