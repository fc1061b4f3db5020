"""Discovers what is at a URL: a feed, a page with feeds, or neither. Read this file first.

Every caller that looks at a pasted URL comes through `discover_feeds_at`. A feed is parsed once, off the event loop
when it is large, and both its response and its entries serve as the first fetch (`collect/first_fetch.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from feedmill.collect.discovery.page_feeds import DiscoveredFeed, find_page_feeds
from feedmill.collect.fetch import Fetcher
from feedmill.collect.parsing.parse_off_loop import parse_off_loop
from feedmill.errors import NotAFeed
from feedmill.html.web_page import MAX_PAGE_BYTES
from feedmill.i18n.messages import Message
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
from feedmill.outbound.encrypted_options import parse_options
from feedmill.run_in_thread import run_in_thread_if_large


@dataclass(frozen=True, slots=True)
class FetchedFeed:
    """The URL is that of a feed; its response and what was parsed from it."""

    url: str
    response: Response
    parsed: ParsedFeed

    @property
    def last_entry_at(self) -> datetime | None:
        dates = [date for entry in self.parsed.entries if (date := entry.published_at or entry.updated_at)]
        return max(dates, default=None)


@dataclass(frozen=True, slots=True)
class PageFeeds:
    """The URL is that of a page with several feeds, the likeliest first."""

    url: str
    feeds: tuple[DiscoveredFeed, ...]


@dataclass(frozen=True, slots=True)
class NoFeed:
    """No feed was found. `may_pass`: a later attempt may find one."""

    url: str
    reason: Message
    may_pass: bool = False


DiscoveryOutcome = FetchedFeed | PageFeeds | NoFeed


async def discover_feeds_at(web: Fetcher, url: str, http_options: str | None = None) -> DiscoveryOutcome:
    """Requests the URL once; if it is a page with one feed, also that feed, and without one the usual paths."""
    outcome = await web.get(url, options=parse_options(http_options))
    feed = await _read_feed(url, outcome, follows_redirects=http_options is None)
    if not isinstance(feed, NoFeed) or not isinstance(outcome, Response):
        return feed
    return await feed_of_page(web, outcome) or feed


async def feed_of_page(web: Fetcher, page: Response, *, guesses: bool = True) -> FetchedFeed | PageFeeds | None:
    """The only feed of a page, or its feeds to choose from; `guesses`: also one at the usual paths or of comments."""
    size = min(len(page.body), MAX_PAGE_BYTES)
    found = await run_in_thread_if_large(
        size, find_page_feeds, page.body, content_type=page.content_type, url=page.final_url
    )
    certain = [each for each in found if not each.is_guess and not each.is_comments]
    if len(certain) > 1:
        return PageFeeds(page.final_url, tuple(certain))
    # A feed at one of the usual paths is preferred to one of readers' comments.
    others = sorted(found, key=lambda each: each.is_comments) if guesses else []
    return await first_working_feed(web, certain or others)


async def first_working_feed(web: Fetcher, found: Sequence[DiscoveredFeed]) -> FetchedFeed | None:
    """The first of these URLs that has a feed."""
    for each in found:
        feed = await _read_feed(each.url, await web.get(each.url))
        if isinstance(feed, FetchedFeed):
            return feed
    return None


async def _read_feed(url: str, outcome: FetchOutcome, *, follows_redirects: bool = True) -> FetchedFeed | NoFeed:
    if not isinstance(outcome, Response):
        return _no_feed(url, outcome)
    try:
        parsed = await parse_off_loop(outcome.body, content_type=outcome.content_type, url=outcome.final_url)
    except NotAFeed as error:
        return NoFeed(url, Message("discovery.nothing_found", what=error.message))
    # A permanent redirect is followed at once, as there is no history to lose yet; but not with a password, which was
    # meant for the first URL.
    final_url = outcome.permanent_url if follows_redirects else None
    return FetchedFeed(final_url or url, outcome, parsed)


def _no_feed(url: str, outcome: FetchOutcome) -> NoFeed:
    match outcome:
        case Refused(kind="address", detail=detail):
            return NoFeed(url, Message("discovery.private_address", what=detail))
        case Refused(detail=detail):
            return NoFeed(url, detail)
        case Retryable(detail=detail, status=status):
            return NoFeed(url, Message("fetch.http_status", status=status) if status else detail, may_pass=True)
        case Throttled(status=status):
            return NoFeed(url, Message("discovery.throttled", status=status), may_pass=True)
        case Deferred():
            return NoFeed(url, Message("discovery.busy"), may_pass=True)
        case Gone():
            return NoFeed(url, Message("discovery.gone"))
        case HttpError(status=status):
            return NoFeed(url, Message("fetch.http_status", status=status), may_pass=True)
        case NotModified() | Response():
            return NoFeed(url, Message("discovery.empty", status=outcome.status), may_pass=True)
