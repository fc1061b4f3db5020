"""Caches the feeds that discovery fetched, so that discovering and then subscribing sends one request."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from feedmill.collect.discovery.discover import FetchedFeed

CACHE_LIFETIME = timedelta(minutes=5)
# Of bodies and entries. The texts of the entries take about as much as the bodies again.
CACHE_MAX_BYTES = 30_000_000
# What an entry takes without its texts: a body of 140 kB may have 20,000 empty ones.
ENTRY_BYTES = 150


@dataclass(slots=True)
class ResponseCache:
    """Feeds that were fetched in the last minutes, by user and URL. The oldest go when all of them become too large.

    They are per user: what one user was shown never becomes what another one subscribes to.
    """

    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    _feeds: OrderedDict[tuple[int, str], tuple[datetime, FetchedFeed]] = field(default_factory=OrderedDict)

    def keep(self, user_id: int, feed: FetchedFeed) -> None:
        self._feeds[user_id, feed.url] = (self.clock(), feed)
        while sum(_size(kept) for _, kept in self._feeds.values()) > CACHE_MAX_BYTES:
            self._feeds.popitem(last=False)

    def take(self, user_id: int, url: str) -> FetchedFeed | None:
        """Removes the feed from the cache and returns it, if it is there and fresh."""
        kept_at, feed = self._feeds.pop((user_id, url), (None, None))
        return feed if kept_at is not None and self.clock() - kept_at < CACHE_LIFETIME else None


def _size(feed: FetchedFeed) -> int:
    return len(feed.response.body) + ENTRY_BYTES * len(feed.parsed.entries)
