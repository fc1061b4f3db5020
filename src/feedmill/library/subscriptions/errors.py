"""Errors of subscribing, each with its code."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from feedmill.collect.discovery.candidates import FeedCandidate
from feedmill.collect.discovery.discover import NoFeed
from feedmill.collect.discovery.request_log import DiscoveryStep, RecordingFetcher
from feedmill.errors import BadInput, Conflict, LimitExceeded
from feedmill.i18n.messages import Message
from feedmill.model.fetch_outcome import (
    Deferred,
    FetchOutcome,
    Gone,
    HttpError,
    Refused,
    Response,
    Retryable,
    Throttled,
)
from feedmill.model.timestamps import iso_or_none

_REFUSED = {
    "blocked": "blocked_host",
    "address": "refused_address",
    "port": "refused_address",
    "too_large": "too_large",
}


class AlreadySubscribed(Conflict):
    """The user already subscribes to this feed."""

    code = "already_subscribed"

    def __init__(self, subscription_id: int) -> None:
        super().__init__(Message("error.already_subscribed"))
        self.more = {"subscription_id": subscription_id}


class SeveralFeeds(Conflict):
    """The page has several feeds; the user must choose one."""

    code = "several_feeds"

    def __init__(self, url: str, candidates: Sequence[FeedCandidate]) -> None:
        super().__init__(Message("error.several_feeds", url=url, count=len(candidates)))
        self.more = {"candidates": [candidate_fields(candidate) for candidate in candidates]}


class QuotaReached(LimitExceeded):
    """The user may not have more feeds."""

    code = "quota"

    def __init__(self, most: int) -> None:
        super().__init__(Message("error.feed_quota", most=most))
        self.more = {"quota_feeds": most}


class NotSubscribable(BadInput):
    """There is no feed at the URL. `may_pass`: the problem may be temporary, so that the feed can be added anyway.

    `steps` are the requests that were made.
    """

    steps: Sequence[DiscoveryStep] = ()

    def __init__(self, code: str, message: Message, may_pass: bool = False, **more: Any) -> None:
        super().__init__(message, "url")
        self.code = code
        self.may_pass = may_pass
        self.more = {"may_pass": may_pass, **more}


def candidate_fields(candidate: FeedCandidate) -> dict[str, Any]:
    return asdict(candidate) | {"last_entry_at": iso_or_none(candidate.last_entry_at)}


def not_subscribable(nothing: NoFeed, web: RecordingFetcher) -> NotSubscribable:
    """The error for a failed discovery, by the response of the URL itself."""
    outcome = web.outcomes[0][1]
    code, kind = _code(outcome)
    may_pass = nothing.may_pass or code == "not_a_feed"
    tried = [{"url": each.url, "answer": str(each.answer)} for each in web.steps]
    message = Message("discovery.at", url=nothing.url, what=nothing.reason)
    error = NotSubscribable(code, message, may_pass, reason=kind, http_status=outcome.status, tried=tried)
    error.steps = web.steps
    return error


def _code(outcome: FetchOutcome) -> tuple[str, str]:
    """The code of a problem."""
    match outcome:
        case Response():
            return "not_a_feed", "not_a_feed"
        case Refused(kind=kind):
            return _REFUSED.get(kind, "unreachable"), kind
        case Retryable(kind=kind):
            return "unreachable", kind
        case Gone() | HttpError():
            return "unreachable", "http"
        case Throttled() | Deferred():
            return "unreachable", "busy"
        case _:
            return "unreachable", "empty"
