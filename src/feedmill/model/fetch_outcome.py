"""The possible outcomes of one HTTP request to the web."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from feedmill.i18n.messages import Message

RetryableKind = Literal[
    "dns", "connect", "tls", "timeout", "reset", "protocol", "truncated", "decoding", "partial", "http_5xx"
]
RefusedKind = Literal[
    "url",
    "scheme",
    "blocked",
    "address",
    "port",
    "options",
    "certificate",
    "too_large",
    "too_many_redirects",
    "redirect_loop",
    "headers",
    "encoding",
]
PauseScope = Literal["domain", "url"]


@dataclass(frozen=True, slots=True)
class Validators:
    """The ETag and Last-Modified of a response, unchanged, for conditional requests."""

    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True)
class Freshness:
    """How long the server says the response is fresh; None where it says nothing usable."""

    max_age: timedelta | None = None
    expires: datetime | None = None


@dataclass(frozen=True, slots=True)
class Response:
    """A complete response. `permanent_url` is where permanent redirects alone led from `url`, else None.

    `delimited` is False when the end of the connection ended the body, so that truncation can't be detected.
    `is_private`: it came from a private address that the operator allowed. `certificate_until` is None without TLS,
    or when the certificate was not checked.
    """

    url: str
    final_url: str
    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    content_type: str
    validators: Validators
    freshness: Freshness
    permanent_url: str | None
    delimited: bool
    received_bytes: int
    fetched_at: datetime
    elapsed: timedelta
    is_private: bool = False
    certificate_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class NotModified:
    """304: what we have is current; `validators` are those for the next request."""

    url: str
    final_url: str
    validators: Validators
    freshness: Freshness
    permanent_url: str | None
    fetched_at: datetime
    elapsed: timedelta
    status: int = 304
    is_private: bool = False
    certificate_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Gone:
    """410: the resource is gone for good."""

    url: str
    final_url: str
    status: int = 410


@dataclass(frozen=True, slots=True)
class Throttled:
    """The server limits us (429 or 503): no request under `scope` before `until`, and no retry.

    `retry_after` is the server's value, capped; None without a usable value.
    """

    url: str
    final_url: str
    status: int
    scope: PauseScope
    retry_after: timedelta | None
    until: datetime


@dataclass(frozen=True, slots=True)
class Retryable:
    """A temporary failure; a quick retry makes sense."""

    url: str
    final_url: str
    kind: RetryableKind
    detail: Message
    status: int | None = None

    @property
    def may_be_ours(self) -> bool:
        """Whether an outage of our own network would look the same."""
        return self.kind in ("dns", "connect", "timeout")


@dataclass(frozen=True, slots=True)
class Refused:
    """We refuse the request or the response, because it breaks a rule of ours. No quick retry."""

    url: str
    final_url: str
    kind: RefusedKind
    detail: Message
    status: int | None = None


@dataclass(frozen=True, slots=True)
class HttpError:
    """A status that is neither a success nor a reason to retry soon."""

    url: str
    final_url: str
    status: int


@dataclass(frozen=True, slots=True)
class Deferred:
    """No request was sent, because the host slot is too far away to wait for; try again at `until`."""

    url: str
    final_url: str
    until: datetime
    status: int | None = None


FetchOutcome = Response | NotModified | Gone | Throttled | Retryable | Refused | HttpError | Deferred
