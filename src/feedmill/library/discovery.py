"""What is at an address that a person pasted: the feeds there, what was tried, and the answers that came with it.

Answers are remembered for some minutes, so that whoever looks first and then subscribes asks the site once.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from feedmill.collect.discover import FoundFeed
from feedmill.collect.fetch import Web
from feedmill.collect.find import FeedHere, FeedsOfPage, NoFeed, find_feed, first_that_answers
from feedmill.collect.parse import parse
from feedmill.model.outcome import (
    Deferred,
    Gone,
    HttpError,
    Outcome,
    Refused,
    Response,
    Retryable,
    Throttled,
    Validators,
)
from feedmill.model.parsed import ParsedFeed
from feedmill.outbound.client import NO_OPTIONS
from feedmill.outbound.options import FetchOptions, Limits

# Of a page with many feeds so many are looked into, so that a person sees what they hold.
LOOKED_INTO = 5
REMEMBERED_FOR = timedelta(minutes=5)
REMEMBERED_BYTES = 30_000_000

Found = FeedHere | FeedsOfPage | NoFeed


@dataclass(frozen=True, slots=True)
class Tried:
    """An address that was asked, and what it said."""

    url: str
    answer: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A feed to choose. What only the feed itself can tell is None when it was not looked into."""

    url: str
    title: str
    type: str | None
    why: str
    items: int | None = None
    last_entry_at: datetime | None = None
    language: str | None = None


def tell_nobody(step: Tried) -> None:
    """For whoever only wants to know what came of it in the end."""


@dataclass(slots=True)
class Looking:
    """A web that notes whatever it is asked, and what came of it.

    `tell` hears of each step twice: without an answer when it begins, and with it.
    """

    web: Web
    tell: Callable[[Tried], None] = tell_nobody
    seen: list[tuple[str, Outcome]] = field(default_factory=list)

    async def get(
        self,
        url: str,
        validators: Validators | None = None,
        limits: Limits | None = None,
        options: FetchOptions = NO_OPTIONS,
    ) -> Outcome:
        self.tell(Tried(url, ""))
        outcome = await self.web.get(url, validators, limits, options)
        self.seen.append((url, outcome))
        self.tell(Tried(url, in_words(outcome)))
        return outcome

    @property
    def tried(self) -> list[Tried]:
        return [Tried(url, in_words(outcome)) for url, outcome in self.seen]


@dataclass(slots=True)
class Answers:
    """Answers of the last minutes, by who asked for which feed; the oldest go when they become too large."""

    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    _kept: OrderedDict[tuple[int, str], tuple[datetime, FeedHere]] = field(default_factory=OrderedDict)

    def keep(self, user_id: int, here: FeedHere) -> None:
        self._kept[user_id, here.url] = (self.clock(), here)
        while sum(len(kept.response.body) for _, kept in self._kept.values()) > REMEMBERED_BYTES:
            self._kept.popitem(last=False)

    def take(self, user_id: int, url: str) -> FeedHere | None:
        """The answer, if it is there and fresh; it is good for once."""
        at, here = self._kept.pop((user_id, url), (None, None))
        return here if at is not None and self.clock() - at < REMEMBERED_FOR else None


async def look(web: Looking, url: str, http_options: str | None) -> tuple[Found, list[Candidate]]:
    """What is there, and the feeds to choose from, the likeliest first."""
    found = await find_feed(web, url, http_options)
    match found:
        case FeedHere():
            return found, [_candidate(found, "this address")]
        case FeedsOfPage(feeds=feeds):
            return found, [_named(feed) for feed in feeds]
        case NoFeed():
            return found, []


async def look_into(web: Looking, feeds: Sequence[FoundFeed]) -> list[FeedHere]:
    """Those of the first few that answer; a host that wants us to wait is not waited for twice."""
    answers = await asyncio.gather(*(first_that_answers(web, [feed]) for feed in feeds[:LOOKED_INTO]))
    return [answer for answer in answers if answer is not None]


def described(candidates: Sequence[Candidate], looked_into: Sequence[FeedHere]) -> list[Candidate]:
    """The candidates with what those that were looked into say of themselves."""
    known = {here.response.url: here for here in looked_into}
    return [_candidate(known[each.url], each.why, each.title) if each.url in known else each for each in candidates]


def in_words(outcome: Outcome) -> str:
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


def _candidate(here: FeedHere, why: str, title: str = "") -> Candidate:
    response = here.response
    parsed = parse(response.body, content_type=response.content_type, url=response.final_url)
    name = parsed.title or title or here.url
    return Candidate(here.url, name, parsed.format, why, len(parsed.entries), _newest(parsed), parsed.language)


def _named(feed: FoundFeed) -> Candidate:
    return Candidate(feed.url, feed.title, feed.type, feed.why)


def _newest(parsed: ParsedFeed) -> datetime | None:
    dates = (entry.published_at or entry.updated_at for entry in parsed.entries)
    return max((date for date in dates if date is not None), default=None)
