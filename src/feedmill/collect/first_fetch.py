"""Adds a feed and uses the response that discovery fetched as its first fetch."""

from dataclasses import dataclass, replace
from datetime import timedelta

from feedmill.collect.refresh import RefreshTools, refresh_feed
from feedmill.model.feed import Feed
from feedmill.model.fetch_outcome import FetchOutcome, Response, Validators
from feedmill.model.refresh import RefreshDecision
from feedmill.outbound.client import DEFAULT_OPTIONS
from feedmill.outbound.fetch_options import FetchLimits, FetchOptions
from feedmill.store.feeds.add_feeds import NewFeed, add_feeds
from feedmill.store.feeds.claims import claim_feeds
from feedmill.store.feeds.feeds import feed_of_url

# A scheduler beside us must not take the feed before we do; after a crash of ours it will.
HEAD_START = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class PrefetchedResponse:
    """A web that has answered already: whatever it is asked, it gives that answer."""

    response: Response

    async def get(
        self,
        url: str,
        validators: Validators | None = None,
        limits: FetchLimits | None = None,
        options: FetchOptions = DEFAULT_OPTIONS,
    ) -> FetchOutcome:
        return self.response


async def add_fetched_feed(
    tools: RefreshTools, new: NewFeed, response: Response
) -> tuple[Feed, RefreshDecision | None]:
    """Adds the feed and takes the answer for its first fetch; no decision if somebody else is at it already."""
    now = tools.clock()
    await add_feeds(tools.db, [new], now, now + HEAD_START)
    return await refresh_with_response(tools, new.url, response)


async def refresh_with_response(
    tools: RefreshTools, url: str, response: Response
) -> tuple[Feed, RefreshDecision | None]:
    """Refreshes the feed at `url` with an answer that is there; no decision if somebody else is at it already."""
    feed = await feed_of_url(tools.db, url)
    if feed is None:
        raise AssertionError(f"{url} was added and is not there")
    claims = await claim_feeds(tools.db, [feed.id], tools.clock())
    if not claims:
        return feed, None
    decision = await refresh_feed(replace(tools, client=PrefetchedResponse(response)), claims[0])
    return await feed_of_url(tools.db, url) or feed, decision
