"""Reads response headers: validators, freshness, Retry-After."""

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from feedmill.model.fetch_outcome import Freshness, Validators
from feedmill.outbound.http_response import HttpResponse
from feedmill.outbound.request_headers import MAX_VALIDATOR

MAX_RETRY_AFTER = timedelta(days=7)
MAX_FRESHNESS = timedelta(days=365)
MAX_AGE_PATTERN = re.compile(r'(?:^|[\s,;])max-age\s*=\s*"?([0-9]+)', re.IGNORECASE)


def validators_of(response: HttpResponse) -> Validators:
    """The validators of a response; one that can't be stored or sent back is dropped."""
    return Validators(_validator(response.raw(b"etag")), _validator(response.raw(b"last-modified")))


def freshness_of(response: HttpResponse) -> Freshness:
    """What the response says about its own freshness."""
    match = MAX_AGE_PATTERN.search(response.text("cache-control"))
    max_age = min(_seconds(match[1]), MAX_FRESHNESS) if match else None
    return Freshness(max_age, parse_http_date(response.text("expires")))


def retry_after_of(response: HttpResponse, now: datetime) -> timedelta | None:
    """The wait that the server asks for, at most seven days; None if it asks for none."""
    value = response.text("retry-after").strip()
    if value.isascii() and value.isdigit():
        length = _seconds(value)
    else:
        date = parse_http_date(value)
        length = date - now if date else timedelta(0)
    return min(length, MAX_RETRY_AFTER) if length > timedelta(0) else None


def parse_http_date(text: str) -> datetime | None:
    """A date in the format of HTTP, in UTC; None if it can't be parsed."""
    if not text:
        return None
    try:
        date = parsedate_to_datetime(text[:100])
        return date.replace(tzinfo=UTC) if date.tzinfo is None else date.astimezone(UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _seconds(digits: str) -> timedelta:
    """So many seconds. Numbers of more than 12 digits are cut to a very long time, so that they don't overflow."""
    return timedelta(seconds=int(digits) if len(digits) <= 12 else 10**12)


def _validator(raw: bytes) -> str | None:
    """The validator as text that is sent back as the same bytes; None if it can't be."""
    if not raw or len(raw) > MAX_VALIDATOR:
        return None
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None
