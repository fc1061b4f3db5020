"""Reads response headers: validators, freshness, Retry-After."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from feedmill.model.fetch_outcome import Freshness, Validators
from feedmill.outbound.request_headers import MAX_VALIDATOR

MAX_RETRY_AFTER = timedelta(days=7)
MAX_FRESHNESS = timedelta(days=365)
MAX_AGE_PATTERN = re.compile(r'(?:^|[\s,;])max-age\s*=\s*"?([0-9]+)', re.IGNORECASE)
MAX_HEADER_TEXT = 8192

RawHeaders = Sequence[tuple[bytes, bytes]]


class HttpResponse:
    """One server's answer, whole: `body` is decoded, and empty for statuses whose body we don't read.

    `headers` has them all by lower-case name, those that repeat joined, monsters left out.
    """

    def __init__(self, status: int, raw_headers: RawHeaders) -> None:
        self.status = status
        self.headers = _joined(raw_headers)
        self.body = b""
        self.received_bytes = 0
        self.delimited = True
        self.certificate_until: datetime | None = None
        self._raw_headers = raw_headers

    def raw(self, name: bytes) -> bytes:
        """The first header of that name, as it came; empty when there is none."""
        return next((value for key, value in self._raw_headers if key.lower() == name), b"")

    def text(self, name: str) -> str:
        """The header of that name; empty when there is none."""
        return self.headers.get(name, "")


def _joined(raw_headers: RawHeaders) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in raw_headers:
        key, text = _text(name).lower(), _text(value)
        if key in joined:
            text = f"{joined[key]}, {text}"
        if len(text) <= MAX_HEADER_TEXT:
            joined[key] = text
    return joined


def validators_of(answer: HttpResponse) -> Validators:
    """The validators of an answer; one that can't be kept or sent back is dropped."""
    return Validators(_validator(answer.raw(b"etag")), _validator(answer.raw(b"last-modified")))


def freshness_of(answer: HttpResponse) -> Freshness:
    """What the answer says of its own lifetime."""
    said = MAX_AGE_PATTERN.search(answer.text("cache-control"))
    max_age = min(_seconds(said[1]), MAX_FRESHNESS) if said else None
    return Freshness(max_age, parse_http_date(answer.text("expires")))


def retry_after_of(answer: HttpResponse, now: datetime) -> timedelta | None:
    """How long the server wants to be left alone, at most seven days; None when it does not say."""
    said = answer.text("retry-after").strip()
    if said.isascii() and said.isdigit():
        length = _seconds(said)
    else:
        date = parse_http_date(said)
        length = date - now if date else timedelta(0)
    return min(length, MAX_RETRY_AFTER) if length > timedelta(0) else None


def parse_http_date(text: str) -> datetime | None:
    """A date as HTTP writes it, in UTC; None when it can't be read."""
    if not text:
        return None
    try:
        date = parsedate_to_datetime(text[:100])
        return date.replace(tzinfo=UTC) if date.tzinfo is None else date.astimezone(UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _seconds(digits: str) -> timedelta:
    """So many seconds; of a number that is absurd, only that it is large."""
    return timedelta(seconds=int(digits) if len(digits) <= 12 else 10**12)


def _validator(raw: bytes) -> str | None:
    """As text that becomes the same bytes again; sent back, text is UTF-8."""
    if not raw or len(raw) > MAX_VALIDATOR:
        return None
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")
