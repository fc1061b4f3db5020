"""Adds a feed and uses the response that discovery fetched and parsed as its first fetch."""

from datetime import timedelta

from feedmill.collect.discovery.discover import FetchedFeed
from feedmill.collect.refresh import RefreshTools, refresh_feed
from feedmill.model.feed import Feed
from feedmill.model.refresh import RefreshDecision
from feedmill.store.feeds.add_feeds import NewFeed, add_feeds
from feedmill.store.feeds.claims import claim_feeds
from feedmill.store.feeds.read_feeds import feed_of_url

# Until then a scheduler leaves the feed to us; after a crash of ours it is due.
HEAD_START = timedelta(minutes=2)


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
    decision = await refresh_feed(tools, claims[0], prefetched=fetched)
    return await feed_of_url(tools.db, url) or feed, decision
