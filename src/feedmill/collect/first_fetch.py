"""A new feed whose first answer is there already, because finding it meant asking for it."""

from dataclasses import dataclass, replace
from datetime import timedelta

from feedmill.collect.refresh import Tools, refresh_feed
from feedmill.model.feed import Feed
from feedmill.model.outcome import Outcome, Response, Validators
from feedmill.model.refresh import Decision
from feedmill.outbound.client import NO_OPTIONS
from feedmill.outbound.options import FetchOptions, Limits
from feedmill.store.additions import NewFeed, add_feeds
from feedmill.store.claims import claim_feeds
from feedmill.store.feeds import feed_of_url

# A scheduler beside us must not take the feed before we do; after a crash of ours it will.
HEAD_START = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class AnsweredWeb:
    """A web that has answered already: whatever it is asked, it gives that answer."""

    response: Response

    async def get(
        self,
        url: str,
        validators: Validators | None = None,
        limits: Limits | None = None,
        options: FetchOptions = NO_OPTIONS,
    ) -> Outcome:
        return self.response


async def add_answered(tools: Tools, new: NewFeed, response: Response) -> tuple[Feed, Decision | None]:
    """Adds the feed and takes the answer for its first fetch; no decision if somebody else is at it already."""
    now = tools.clock()
    await add_feeds(tools.db, [new], now, now + HEAD_START)
    return await take_answer(tools, new.url, response)


async def take_answer(tools: Tools, url: str, response: Response) -> tuple[Feed, Decision | None]:
    """Refreshes the feed at `url` with an answer that is there; no decision if somebody else is at it already."""
    feed = await feed_of_url(tools.db, url)
    if feed is None:
        raise AssertionError(f"{url} was added and is not there")
    claims = await claim_feeds(tools.db, [feed.id], tools.clock())
    if not claims:
        return feed, None
    decision = await refresh_feed(replace(tools, client=AnsweredWeb(response)), claims[0])
    return await feed_of_url(tools.db, url) or feed, decision
