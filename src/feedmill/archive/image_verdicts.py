"""What an answer means for an image: a picture, another try and when, or the end. Pure."""

from datetime import datetime, timedelta

from feedmill.archive.image_types import is_svg, looks_like, recognise
from feedmill.model.image import Missed, Picture
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

MOST_ATTEMPTS = 3
# After the first failure, after the second, and after one that a few minutes won't mend.
SPACING = (timedelta(minutes=5), timedelta(hours=1), timedelta(hours=24))
LONG = SPACING[-1]
NEVER = frozenset({"url", "scheme", "address", "port", "options", "too_large"})


def judge(outcome: Outcome, attempts: int, now: datetime, *, offline: bool = False) -> Picture | Missed:
    """The verdict on the answer to the next attempt, after `attempts` that failed."""
    match outcome:
        case Response():
            return _looked_at(outcome, attempts, now)
        case Deferred(until=until):
            return Missed("its host has no turn for us", until, counted=False)
        case Retryable(may_be_ours=True) if offline:
            return Missed("our own network seems to be down", now + SPACING[0], counted=False)
        case Retryable(detail=detail):
            return _again(detail, attempts, now, spacing(attempts))
        case Throttled(status=status, until=until):
            return _again(f"the server asks for a rest ({status})", attempts, now, max(until - now, spacing(attempts)))
        case Gone() | HttpError(status=404):
            return Missed(f"the server says {outcome.status}", None)
        case Refused(kind="blocked", detail=detail):
            return Missed(detail, now + LONG, counted=False)
        case Refused(kind=kind, detail=detail):
            return Missed(detail, None) if kind in NEVER else _again(detail, attempts, now, LONG)
        case HttpError() | NotModified():
            return _again(f"the server says {outcome.status}", attempts, now, LONG)


def spacing(attempts: int) -> timedelta:
    """How long to wait after an attempt that fails, when so many failed before."""
    return SPACING[min(attempts, len(SPACING) - 1)]


def _looked_at(response: Response, attempts: int, now: datetime) -> Picture | Missed:
    type = recognise(response.body)
    if type is not None:
        return Picture(type, response.body)
    if is_svg(response.body):
        return Missed("SVG is not kept: it may hold scripts", None)
    return _again(f"no image: it looks like {looks_like(response.body)}", attempts, now, LONG)


def _again(reason: str, attempts: int, now: datetime, wait: timedelta) -> Missed:
    return Missed(reason, now + wait if attempts + 1 < MOST_ATTEMPTS else None)
