"""Follows the redirects of one request and turns its last response into an outcome."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from feedmill.model.fetch_outcome import (
    Deferred,
    FetchOutcome,
    Gone,
    HttpError,
    NotModified,
    PauseScope,
    Refused,
    Response,
    Retryable,
    Throttled,
    Validators,
)
from feedmill.outbound.errors import RefusedError, RetryableError
from feedmill.outbound.fetch_options import FetchLimits, FetchOptions
from feedmill.outbound.request_headers import request_headers, secret_headers
from feedmill.outbound.response_headers import HttpResponse, freshness_of, retry_after_of, validators_of
from feedmill.outbound.urls import RequestTarget, resolve_location

REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
PERMANENT_REDIRECTS = frozenset({301, 308})
BODY_STATUSES = frozenset({200, 203})
# How long to rest when the server asks for it without saying how long.
DEFAULT_PAUSES: dict[PauseScope, timedelta] = {"domain": timedelta(minutes=15), "url": timedelta(minutes=5)}


@dataclass(frozen=True, slots=True)
class RequestPayload:
    """What a request brings along."""

    body: bytes
    content_type: str


@dataclass(slots=True)
class RedirectChain:
    """One request on its way: a GET, or a POST when it has a payload."""

    url: str
    target: RequestTarget
    limits: FetchLimits
    options: FetchOptions
    validators: Validators
    payload: RequestPayload | None = None
    spent: timedelta = timedelta(0)
    permanent_url: str | None = None
    is_private: bool = False
    _home: RequestTarget = field(init=False)
    _visited: set[str] = field(init=False)
    _only_permanent: bool = field(init=False, default=True)

    def __post_init__(self) -> None:
        self._home = self.target
        self._visited = {self.target.url}

    @property
    def left(self) -> timedelta:
        return self.limits.total - self.spent

    def headers(self, user_agent: str) -> dict[str, str]:
        """What to tell the present target; what is secret only if it is the feed's own host."""
        headers = request_headers(user_agent, self.validators, self.options)
        if self._home.may_share_secrets_with(self.target):
            headers |= secret_headers(self.options, self._home.credentials)
        if self.payload is not None:
            headers["Content-Type"] = self.payload.content_type
        return headers

    def wants_to_follow(self, answer: HttpResponse) -> bool:
        """Whether the answer points elsewhere; what a POST brings is for the one who was named."""
        return self.payload is None and answer.status in REDIRECT_STATUSES and bool(answer.raw(b"location").strip())

    def wants_body(self, status: int) -> bool:
        return self.payload is None and status in BODY_STATUSES

    def follow(self, answer: HttpResponse) -> None:
        """Goes on to where the answer points, if that is allowed."""
        target = resolve_location(self.target, answer.raw(b"location"))
        if target.url in self._visited:
            raise RefusedError("redirect_loop", "the redirects go in a circle")
        if len(self._visited) > self.limits.redirects:
            raise RefusedError("too_many_redirects", f"more than {self.limits.redirects} redirects")
        self._only_permanent = self._only_permanent and answer.status in PERMANENT_REDIRECTS
        if self._only_permanent:
            self.permanent_url = target.url
        self._visited.add(target.url)
        self.target = target

    def conclude(self, answer: HttpResponse, now: datetime) -> FetchOutcome:
        """What the last answer means."""
        ends = (self.url, self.target.url)
        match answer.status:
            case status if status in BODY_STATUSES or (self.payload is not None and 200 <= status <= 299):
                return self._response(answer, now)
            case 304 if self.validators != Validators():
                return self._not_modified(answer, now)
            case 206:
                return Retryable(*ends, "partial", "the server sent a part that nobody asked for", 206)
            case 410:
                return Gone(*ends)
            case 429:
                return self._throttled(answer, "domain", now)
            case 503:
                return self._throttled(answer, "url", now)
            case status if 500 <= status <= 599:
                return Retryable(*ends, "http_5xx", f"the server failed with {status}", status)
        return HttpError(*ends, answer.status)

    def _response(self, answer: HttpResponse, now: datetime) -> Response:
        """The answer as a success; only a 200 says how to ask for it again."""
        return Response(
            url=self.url,
            final_url=self.target.url,
            status=answer.status,
            headers=answer.headers,
            body=answer.body,
            content_type=answer.text("content-type"),
            validators=validators_of(answer) if answer.status == 200 else Validators(),
            freshness=freshness_of(answer),
            permanent_url=self.permanent_url,
            delimited=answer.delimited,
            received_bytes=answer.received_bytes,
            fetched_at=now,
            elapsed=self.spent,
            is_private=self.is_private,
            certificate_until=answer.certificate_until,
        )

    def stopped(self, error: RefusedError | RetryableError) -> Refused | Retryable:
        """The outcome of what went wrong on the way."""
        if isinstance(error, RefusedError):
            return Refused(self.url, self.target.url, error.kind, str(error))
        return Retryable(self.url, self.target.url, error.kind, str(error))

    def deferred(self, wait: timedelta) -> Deferred:
        return Deferred(self.url, self.target.url, datetime.now(UTC) + wait)

    def _not_modified(self, answer: HttpResponse, now: datetime) -> NotModified:
        """What we asked with stays: a 304 that names another ETag does not give us what that stands for."""
        new, freshness = validators_of(answer), freshness_of(answer)
        kept = Validators(self.validators.etag or new.etag, self.validators.last_modified or new.last_modified)
        return NotModified(
            self.url,
            self.target.url,
            kept,
            freshness,
            self.permanent_url,
            now,
            self.spent,
            is_private=self.is_private,
            certificate_until=answer.certificate_until,
        )

    def _throttled(self, answer: HttpResponse, scope: PauseScope, now: datetime) -> Throttled:
        retry_after = retry_after_of(answer, now)
        until = now + (retry_after or DEFAULT_PAUSES[scope])
        return Throttled(self.url, self.target.url, answer.status, scope, retry_after, until)
