"""Adds a feed and uses the response that discovery fetched and parsed as its first fetch."""

from dataclasses import dataclass, replace
from datetime import timedelta

from feedmill.collect.discovery.discover import FetchedFeed
from feedmill.collect.refresh import RefreshTools, refresh_feed
from feedmill.model.feed import Feed
from feedmill.model.fetch_outcome import FetchOutcome, Validators
from feedmill.model.parsed_feed import ParsedFeed
from feedmill.model.refresh import RefreshDecision
from feedmill.outbound.client import DEFAULT_OPTIONS
from feedmill.outbound.fetch_options import FetchLimits, FetchOptions
from feedmill.store.feeds.add_feeds import NewFeed, add_feeds
from feedmill.store.feeds.claims import claim_feeds
from feedmill.store.feeds.read_feeds import feed_of_url

# Until then a scheduler leaves the feed to us; after a crash of ours it is due.
HEAD_START = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Prefetched:
    """Takes the place of the web and of the parser in a refresh: returns what discovery has fetched and parsed."""

    feed: FetchedFeed

    async def get(
        self,
        url: str,
        validators: Validators | None = None,
        limits: FetchLimits | None = None,
        options: FetchOptions = DEFAULT_OPTIONS,
    ) -> FetchOutcome:
        return self.feed.response

    async def parse(self, data: bytes, *, content_type: str | None = None, url: str | None = None) -> ParsedFeed:
        return self.feed.parsed


async def add_fetched_feed(
    tools: RefreshTools, new: NewFeed, fetched: FetchedFeed
) -> tuple[Feed, RefreshDecision | None]:
    """Adds the feed and refreshes it with what discovery fetched; no decision if another process has claimed it."""
    now = tools.clock()
    await add_feeds(tools.db, [new], now, now + HEAD_START)
    return await refresh_with_fetched(tools, new.url, fetched)


async def refresh_with_fetched(
    tools: RefreshTools, url: str, fetched: FetchedFeed
) -> tuple[Feed, RefreshDecision | None]:
    """Refreshes the feed at `url` with what discovery fetched; no decision if another process has claimed it."""
    feed = await feed_of_url(tools.db, url)
    if feed is None:
        raise AssertionError(f"{url} was added and is not there")
    claims = await claim_feeds(tools.db, [feed.id], tools.clock())
    if not claims:
        return feed, None
    prefetched = Prefetched(fetched)
    decision = await refresh_feed(replace(tools, client=prefetched, parse=prefetched.parse), claims[0])
    return await feed_of_url(tools.db, url) or feed, decision
