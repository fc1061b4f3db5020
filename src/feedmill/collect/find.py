"""What is at an address that a person pasted: a feed, a page with feeds, or neither."""

from collections.abc import Sequence
from dataclasses import dataclass

from feedmill.collect.discover import FoundFeed, discover
from feedmill.collect.fetch import Web, read_options
from feedmill.collect.parse import parse
from feedmill.errors import NotAFeed
from feedmill.model.outcome import (
    Deferred,
    Gone,
    HttpError,
    NotModified,
    Outcome,
    Refused,
    Response,
    Retryable,
    Throttled,
)


@dataclass(frozen=True, slots=True)
class FeedHere:
    """There is a feed, and this is what it answered: good enough for its first fetch."""

    url: str
    response: Response
    title: str | None


@dataclass(frozen=True, slots=True)
class FeedsOfPage:
    """There is a page that names several feeds, the likeliest first."""

    url: str
    feeds: tuple[FoundFeed, ...]


@dataclass(frozen=True, slots=True)
class NoFeed:
    """There is none to be had now. `may_pass`: it may be another time; else the rule or the page won't change."""

    url: str
    reason: str
    may_pass: bool = False


async def find_feed(web: Web, url: str, http_options: str | None = None) -> FeedHere | FeedsOfPage | NoFeed:
    """Asks for the address once; for a page with one feed also for that one, without one for the usual places."""
    outcome = await web.get(url, options=read_options(http_options))
    here = _read(url, outcome, stays=http_options is not None)
    if not isinstance(here, NoFeed) or not isinstance(outcome, Response):
        return here
    found = discover(outcome.body, content_type=outcome.content_type, url=outcome.final_url)
    certain = [feed for feed in found if not feed.is_guess and not feed.is_comments]
    if len(certain) > 1:
        return FeedsOfPage(outcome.final_url, tuple(certain))
    # Rather a feed in one of the usual places than one of readers' comments.
    return await first_that_answers(web, certain or sorted(found, key=lambda feed: feed.is_comments)) or here


async def first_that_answers(web: Web, found: Sequence[FoundFeed]) -> FeedHere | None:
    """The first of these addresses that has a feed."""
    for feed in found:
        here = _read(feed.url, await web.get(feed.url))
        if isinstance(here, FeedHere):
            return here
    return None


def _read(url: str, outcome: Outcome, *, stays: bool = False) -> FeedHere | NoFeed:
    if not isinstance(outcome, Response):
        return _refusal(url, outcome)
    try:
        parsed = parse(outcome.body, content_type=outcome.content_type, url=outcome.final_url)
    except NotAFeed as error:
        return NoFeed(url, f"{error}, and no feed was found on it")
    # A redirect that is said to be for good is believed at once, as there is no history to lose yet; but not with
    # a password at hand, which was meant for the first address.
    return FeedHere(url if stays else outcome.permanent_url or url, outcome, parsed.title)


def _refusal(url: str, outcome: Outcome) -> NoFeed:
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
