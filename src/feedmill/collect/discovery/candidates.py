"""The feeds to choose from at a URL, described by the page that names them or by themselves."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from feedmill.collect.discovery.discover import FetchedFeed, PageFeeds, first_working_feed
from feedmill.collect.discovery.page_feeds import DiscoveredFeed
from feedmill.collect.fetch import Fetcher

# Of a page with many feeds so many are fetched, so that the user sees what they contain.
MAX_FETCHED_CANDIDATES = 5


@dataclass(frozen=True, slots=True)
class FeedCandidate:
    """A feed to choose. `items`, `last_entry_at` and `language` are None if it was not fetched."""

    url: str
    title: str
    type: str | None
    why: str
    items: int | None = None
    last_entry_at: datetime | None = None
    language: str | None = None


def candidates_of(found: FetchedFeed | PageFeeds, fetched: Sequence[FetchedFeed] = ()) -> list[FeedCandidate]:
    """The feeds to choose from, the likeliest first; those in `fetched` are described by themselves."""
    if isinstance(found, FetchedFeed):
        return [_described_by_itself(found, "this address")]
    by_url = {feed.response.url: feed for feed in fetched}
    return [
        _described_by_itself(by_url[feed.url], feed.why, feed.title) if feed.url in by_url else _described_by_page(feed)
        for feed in found.feeds
    ]


async def fetch_candidates(web: Fetcher, feeds: Sequence[DiscoveredFeed]) -> list[FetchedFeed]:
    """Fetches the first few and returns those that are feeds; a host that throttles us is not waited for twice."""
    fetched = await asyncio.gather(*(first_working_feed(web, [feed]) for feed in feeds[:MAX_FETCHED_CANDIDATES]))
    return [feed for feed in fetched if feed is not None]


def _described_by_itself(feed: FetchedFeed, why: str, title: str = "") -> FeedCandidate:
    parsed = feed.parsed
    return FeedCandidate(
        url=feed.url,
        title=parsed.title or title or feed.url,
        type=parsed.format,
        why=why,
        items=len(parsed.entries),
        last_entry_at=feed.last_entry_at,
        language=parsed.language,
    )


def _described_by_page(feed: DiscoveredFeed) -> FeedCandidate:
    return FeedCandidate(feed.url, feed.title, feed.type, feed.why)
