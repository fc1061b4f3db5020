"""Decides what a response means for an image: stored, retried later, or failed."""

from datetime import datetime, timedelta

from feedmill.archive.images.file_types import describe_non_image, detect_image_type, is_svg
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
from feedmill.model.image import DownloadedImage, ImageDownloadFailed

MAX_ATTEMPTS = 3
# After the first failure, after the second, and after one that won't pass in a few minutes.
RETRY_DELAYS = (timedelta(minutes=5), timedelta(hours=1), timedelta(hours=24))
LONG_RETRY_DELAY = RETRY_DELAYS[-1]
PERMANENT_KINDS = frozenset({"url", "scheme", "address", "port", "options", "too_large"})


def judge_response(
    outcome: FetchOutcome, attempts: int, now: datetime, *, offline: bool = False
) -> DownloadedImage | ImageDownloadFailed:
    """Decides on the outcome of a fetch, after `attempts` failed ones."""
    match outcome:
        case Response():
            return _judge_body(outcome, attempts, now)
        case Deferred(until=until):
            return ImageDownloadFailed(Message("image.no_turn"), until, counted=False)
        case Retryable(may_be_ours=True) if offline:
            return ImageDownloadFailed(Message("image.own_outage"), now + RETRY_DELAYS[0], counted=False)
        case Retryable(detail=detail):
            return _failed_attempt(detail, attempts, now, retry_delay(attempts))
        case Throttled(status=status, until=until):
            return _failed_attempt(
                Message("fetch.throttled", status=status), attempts, now, max(until - now, retry_delay(attempts))
            )
        case Gone() | HttpError(status=404):
            return ImageDownloadFailed(Message("fetch.status", status=outcome.status), None)
        case Refused(kind="blocked", detail=detail):
            return ImageDownloadFailed(detail, now + LONG_RETRY_DELAY, counted=False)
        case Refused(kind=kind, detail=detail):
            return (
                ImageDownloadFailed(detail, None)
                if kind in PERMANENT_KINDS
                else _failed_attempt(detail, attempts, now, LONG_RETRY_DELAY)
            )
        case HttpError() | NotModified():
            return _failed_attempt(Message("fetch.status", status=outcome.status), attempts, now, LONG_RETRY_DELAY)


def retry_delay(attempts: int) -> timedelta:
    """How long to wait after a failed attempt, when `attempts` failed before."""
    return RETRY_DELAYS[min(attempts, len(RETRY_DELAYS) - 1)]


def _judge_body(response: Response, attempts: int, now: datetime) -> DownloadedImage | ImageDownloadFailed:
    type = detect_image_type(response.body)
    if type is not None:
        return DownloadedImage(type, response.body)
    if is_svg(response.body):
        return ImageDownloadFailed(Message("image.svg"), None)
    seems = Message(f"not_an_image.{describe_non_image(response.body)}")
    return _failed_attempt(seems, attempts, now, LONG_RETRY_DELAY)


def _failed_attempt(reason: Message, attempts: int, now: datetime, delay: timedelta) -> ImageDownloadFailed:
    return ImageDownloadFailed(reason, now + delay if attempts + 1 < MAX_ATTEMPTS else None)
