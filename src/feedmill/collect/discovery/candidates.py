"""Lists the feeds to choose from at a URL, records each request, and caches the responses.

Answers are remembered for some minutes, so that whoever looks first and then subscribes asks the site once.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from feedmill.collect.discovery.find_feed import FetchedFeed, NoFeed, PageFeeds, find_feed, first_working_feed
from feedmill.collect.discovery.page_feeds import DiscoveredFeed
from feedmill.collect.fetch import Fetcher
from feedmill.model.fetch_outcome import (
    Deferred,
    FetchOutcome,
    Gone,
    HttpError,
    Refused,
    Response,
    Retryable,
    Throttled,
    Validators,
)
from feedmill.outbound.client import DEFAULT_OPTIONS
from feedmill.outbound.fetch_options import FetchLimits, FetchOptions

# Of a page with many feeds so many are looked into, so that a person sees what they hold.
MAX_FETCHED_CANDIDATES = 5
CACHE_LIFETIME = timedelta(minutes=5)
CACHE_MAX_BYTES = 30_000_000

FindResult = FetchedFeed | PageFeeds | NoFeed


@dataclass(frozen=True, slots=True)
class DiscoveryStep:
    """An address that was asked, and what it said."""

    url: str
    answer: str


@dataclass(frozen=True, slots=True)
class FeedCandidate:
    """A feed to choose. What only the feed itself can tell is None when it was not looked into."""

    url: str
    title: str
    type: str | None
    why: str
    items: int | None = None
    last_entry_at: datetime | None = None
    language: str | None = None


def ignore_step(step: DiscoveryStep) -> None:
    """For whoever only wants to know what came of it in the end."""


@dataclass(slots=True)
class RecordingFetcher:
    """A web that notes whatever it is asked, and what came of it.

    `tell` hears of each step twice: without an answer when it begins, and with it.
    """

    web: Fetcher
    tell: Callable[[DiscoveryStep], None] = ignore_step
    seen: list[tuple[str, FetchOutcome]] = field(default_factory=list)

    async def get(
        self,
        url: str,
        validators: Validators | None = None,
        limits: FetchLimits | None = None,
        options: FetchOptions = DEFAULT_OPTIONS,
    ) -> FetchOutcome:
        self.tell(DiscoveryStep(url, ""))
        outcome = await self.web.get(url, validators, limits, options)
        self.seen.append((url, outcome))
        self.tell(DiscoveryStep(url, describe_outcome(outcome)))
        return outcome

    @property
    def tried(self) -> list[DiscoveryStep]:
        return [DiscoveryStep(url, describe_outcome(outcome)) for url, outcome in self.seen]


@dataclass(slots=True)
class ResponseCache:
    """Answers of the last minutes, by who asked for which feed; the oldest go when they become too large."""

    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    _kept: OrderedDict[tuple[int, str], tuple[datetime, FetchedFeed]] = field(default_factory=OrderedDict)

    def keep(self, user_id: int, here: FetchedFeed) -> None:
        self._kept[user_id, here.url] = (self.clock(), here)
        while sum(len(kept.response.body) for _, kept in self._kept.values()) > CACHE_MAX_BYTES:
            self._kept.popitem(last=False)

    def take(self, user_id: int, url: str) -> FetchedFeed | None:
        """The answer, if it is there and fresh; it is good for once."""
        at, here = self._kept.pop((user_id, url), (None, None))
        return here if at is not None and self.clock() - at < CACHE_LIFETIME else None


async def find_candidates(
    web: RecordingFetcher, url: str, http_options: str | None
) -> tuple[FindResult, list[FeedCandidate]]:
    """What is there, and the feeds to choose from, the likeliest first."""
    found = await find_feed(web, url, http_options)
    match found:
        case FetchedFeed():
            return found, [_candidate(found, "this address")]
        case PageFeeds(feeds=feeds):
            return found, [_named(feed) for feed in feeds]
        case NoFeed():
            return found, []


async def fetch_candidates(web: RecordingFetcher, feeds: Sequence[DiscoveredFeed]) -> list[FetchedFeed]:
    """Those of the first few that answer; a host that wants us to wait is not waited for twice."""
    answers = await asyncio.gather(*(first_working_feed(web, [feed]) for feed in feeds[:MAX_FETCHED_CANDIDATES]))
    return [answer for answer in answers if answer is not None]


def describe_candidates(candidates: Sequence[FeedCandidate], looked_into: Sequence[FetchedFeed]) -> list[FeedCandidate]:
    """The candidates with what those that were looked into say of themselves."""
    known = {here.response.url: here for here in looked_into}
    return [_candidate(known[each.url], each.why, each.title) if each.url in known else each for each in candidates]


def describe_outcome(outcome: FetchOutcome) -> str:
    """What an address said, for a person."""
    match outcome:
        case Response(status=status, content_type=content_type):
            return f"HTTP {status}, {content_type.partition(';')[0] or 'of no said type'}"
        case Throttled(status=status):
            return f"HTTP {status}: it asks us to come back later"
        case Retryable(detail=detail, status=None) | Refused(detail=detail, status=None):
            return detail
        case Deferred():
            return "its host is busy, so it was not asked"
        case Gone() | HttpError() | Retryable() | Refused():
            return f"HTTP {outcome.status}"
        case _:
            return "an answer without content"


def _candidate(here: FetchedFeed, why: str, title: str = "") -> FeedCandidate:
    name = here.title or title or here.url
    return FeedCandidate(here.url, name, here.format, why, here.items, here.last_entry_at, here.language)


def _named(feed: DiscoveredFeed) -> FeedCandidate:
    return FeedCandidate(feed.url, feed.title, feed.type, feed.why)
