"""Why somebody can't subscribe to what they asked for, each reason with its code, its sentence and what goes on."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from feedmill.collect.find import NoFeed
from feedmill.errors import BadInput, Conflict, TooMany
from feedmill.library.discovery import Candidate, Looking
from feedmill.model.outcome import Deferred, Gone, HttpError, Outcome, Refused, Response, Retryable, Throttled
from feedmill.model.times import text_or_none

_REFUSED = {
    "blocked": "blocked_host", "address": "refused_address", "port": "refused_address", "too_large": "too_large",
}  # fmt: skip


class AlreadySubscribed(Conflict):
    """The user has this feed."""

    code = "already_subscribed"

    def __init__(self, subscription_id: int) -> None:
        super().__init__("you are subscribed to this feed already")
        self.more = {"subscription_id": subscription_id}


class SeveralFeeds(Conflict):
    """The page has several feeds, and somebody must choose."""

    code = "several_feeds"

    def __init__(self, url: str, candidates: Sequence[Candidate]) -> None:
        super().__init__(f"{url} has {len(candidates)} feeds: subscribe to one of them by its own address")
        self.more = {"candidates": [shown(candidate) for candidate in candidates]}


class QuotaReached(TooMany):
    """The user may not have more feeds."""

    code = "quota"

    def __init__(self, most: int) -> None:
        super().__init__(f"you may have at most {most} feeds: unsubscribe from one first")
        self.more = {"quota_feeds": most}


class NotSubscribable(BadInput):
    """There is no feed to be had. `may_pass`: it may be another time, so that adding it anyway makes sense."""

    def __init__(self, code: str, message: str, may_pass: bool = False, **more: Any) -> None:
        super().__init__(message, "url")
        self.code = code
        self.may_pass = may_pass
        self.more = {"may_pass": may_pass, **more}


def shown(candidate: Candidate) -> dict[str, Any]:
    return asdict(candidate) | {"last_entry_at": text_or_none(candidate.last_entry_at)}


def why_not(nothing: NoFeed, web: Looking) -> NotSubscribable:
    """The reason, from what the address itself answered."""
    outcome = web.seen[0][1]
    code, kind = _code(outcome)
    may_pass = nothing.may_pass or code == "not_a_feed"
    tried = [asdict(each) for each in web.tried]
    return NotSubscribable(
        code, f"{nothing.url}: {nothing.reason}", may_pass, reason=kind, http_status=outcome.status, tried=tried
    )


def _code(outcome: Outcome) -> tuple[str, str]:
    """For programs: what went wrong, and how."""
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
