"""Finds out what is at a URL: a feed, a page with feeds, or neither."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from feedmill.collect.discovery.page_feeds import DiscoveredFeed, find_page_feeds
from feedmill.collect.fetch import Fetcher
from feedmill.collect.parsing.parse_off_loop import parse_off_loop
from feedmill.errors import NotAFeed
from feedmill.html.page import MAX_PAGE_BYTES
from feedmill.model.fetch_outcome import (
    Deferred,
    FetchOutcome,
    Gone,
    HttpError,
    NotModified,
    Refused,
    Response,
    Retryable,
    Throttled,
)
from feedmill.model.parsed_feed import ParsedFeed
from feedmill.outbound.fetch_options import parse_options
from feedmill.threads import run_in_thread_if_large


@dataclass(frozen=True, slots=True)
class FetchedFeed:
    """There is a feed, and this is what it answered: good enough for its first fetch.

    `format`, `items`, `last_entry_at` and `language` describe the feed to a person who may want it.
    """

    url: str
    response: Response
    title: str | None
    format: str = ""
    items: int = 0
    last_entry_at: datetime | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class PageFeeds:
    """There is a page that names several feeds, the likeliest first."""

    url: str
    feeds: tuple[DiscoveredFeed, ...]


@dataclass(frozen=True, slots=True)
class NoFeed:
    """There is none to be had now. `may_pass`: it may be another time; else the rule or the page won't change."""

    url: str
    reason: str
    may_pass: bool = False


async def find_feed(web: Fetcher, url: str, http_options: str | None = None) -> FetchedFeed | PageFeeds | NoFeed:
    """Asks for the address once; for a page with one feed also for that one, without one for the usual places."""
    outcome = await web.get(url, options=parse_options(http_options))
    here = await _read(url, outcome, stays=http_options is not None)
    if not isinstance(here, NoFeed) or not isinstance(outcome, Response):
        return here
    size = min(len(outcome.body), MAX_PAGE_BYTES)
    found = await run_in_thread_if_large(
        size, find_page_feeds, outcome.body, content_type=outcome.content_type, url=outcome.final_url
    )
    certain = [feed for feed in found if not feed.is_guess and not feed.is_comments]
    if len(certain) > 1:
        return PageFeeds(outcome.final_url, tuple(certain))
    # Rather a feed in one of the usual places than one of readers' comments.
    return await first_working_feed(web, certain or sorted(found, key=lambda feed: feed.is_comments)) or here


async def first_working_feed(web: Fetcher, found: Sequence[DiscoveredFeed]) -> FetchedFeed | None:
    """The first of these addresses that has a feed."""
    for feed in found:
        here = await _read(feed.url, await web.get(feed.url))
        if isinstance(here, FetchedFeed):
            return here
    return None


async def _read(url: str, outcome: FetchOutcome, *, stays: bool = False) -> FetchedFeed | NoFeed:
    if not isinstance(outcome, Response):
        return _refusal(url, outcome)
    try:
        parsed = await parse_off_loop(outcome.body, content_type=outcome.content_type, url=outcome.final_url)
    except NotAFeed as error:
        return NoFeed(url, f"{error}, and no feed was found on it")
    # A redirect that is said to be for good is believed at once, as there is no history to lose yet; but not with
    # a password at hand, which was meant for the first address.
    return _fetched_feed(url if stays else outcome.permanent_url or url, outcome, parsed)


def _fetched_feed(url: str, response: Response, parsed: ParsedFeed) -> FetchedFeed:
    dates = [date for entry in parsed.entries if (date := entry.published_at or entry.updated_at)]
    newest = max(dates, default=None)
    return FetchedFeed(url, response, parsed.title, parsed.format, len(parsed.entries), newest, parsed.language)


def _refusal(url: str, outcome: FetchOutcome) -> NoFeed:
    match outcome:
        case Refused(kind="address", detail=detail):
            return NoFeed(url, f"{detail}; the setting allow_private says which of those may be fetched")
        case Refused(detail=detail):
            return NoFeed(url, detail)
        case Retryable(detail=detail, status=status):
            return NoFeed(url, f"HTTP {status}" if status else detail, may_pass=True)
        case Throttled(status=status):
            return NoFeed(url, f"its server asks for a rest (HTTP {status})", may_pass=True)
        case Deferred():
            return NoFeed(url, "its host is busy; try again in a minute", may_pass=True)
        case Gone():
            return NoFeed(url, "its server says it is gone for good (HTTP 410)")
        case HttpError(status=status):
            return NoFeed(url, f"HTTP {status}", may_pass=True)
        case NotModified() | Response():
            return NoFeed(url, f"an answer without content (HTTP {outcome.status})", may_pass=True)
