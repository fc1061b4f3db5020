"""The possible outcomes of one HTTP request to the web."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

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
    """What a server gave us to ask "has it changed?" with, as it came."""

    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True)
class Freshness:
    """The server's own wish about when to come back; None where it said nothing usable."""

    max_age: timedelta | None = None
    expires: datetime | None = None


@dataclass(frozen=True, slots=True)
class Response:
    """A whole answer. `permanent_url` is where permanent redirects alone led from `url`, else None.

    `delimited` is False when only the end of the connection ended the body, so that a cut can't be told.
    `is_private`: it came from an address that the operator allowed on purpose. `certificate_until` is None
    where the way was not secured, or nobody looked at the certificate.
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
    """The server says that what we have is current; `validators` are those to ask with next time."""

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
    """410: the server says that it is gone for good."""

    url: str
    final_url: str
    status: int = 410


@dataclass(frozen=True, slots=True)
class Throttled:
    """The server asks for a rest: nothing under `scope` is asked before `until`, and nothing retried.

    `retry_after` is what the server said, capped; None when it said nothing usable.
    """

    url: str
    final_url: str
    status: int
    scope: PauseScope
    retry_after: timedelta | None
    until: datetime


@dataclass(frozen=True, slots=True)
class Retryable:
    """It failed in a way that may pass by itself; a quick retry makes sense."""

    url: str
    final_url: str
    kind: RetryableKind
    detail: str
    status: int | None = None

    @property
    def may_be_ours(self) -> bool:
        """Whether it would look the same if our own network were down."""
        return self.kind in ("dns", "connect", "timeout")


@dataclass(frozen=True, slots=True)
class Refused:
    """We will not have it: it breaks a rule of ours, and would again. No quick retry."""

    url: str
    final_url: str
    kind: RefusedKind
    detail: str
    status: int | None = None


@dataclass(frozen=True, slots=True)
class HttpError:
    """The server answered with a status that is neither success nor a reason to retry soon."""

    url: str
    final_url: str
    status: int


@dataclass(frozen=True, slots=True)
class Deferred:
    """The turn at the host is too far away to wait for; nothing was asked. Come back at `until`."""

    url: str
    final_url: str
    until: datetime
    status: int | None = None


FetchOutcome = Response | NotModified | Gone | Throttled | Retryable | Refused | HttpError | Deferred
