"""Follows the redirects of one request and turns its last response into an outcome."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from feedmill.i18n.messages import Message
from feedmill.model.fetch_options import FetchOptions
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
from feedmill.outbound.fetch_limits import FetchLimits
from feedmill.outbound.http_response import HttpResponse
from feedmill.outbound.request_headers import request_headers, secret_headers
from feedmill.outbound.response_headers import freshness_of, retry_after_of, validators_of
from feedmill.outbound.urls import RequestTarget, resolve_location

REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
PERMANENT_REDIRECTS = frozenset({301, 308})
SAME_METHOD_REDIRECTS = frozenset({307, 308})
BODY_STATUSES = frozenset({200, 203})
# How long to pause if the server throttles us without saying for how long.
DEFAULT_PAUSES: dict[PauseScope, timedelta] = {"domain": timedelta(minutes=15), "url": timedelta(minutes=5)}


@dataclass(frozen=True, slots=True)
class RequestPayload:
    """What a request sends, and how. `wants_body`: the body of a successful response is read.

    `is_redirected`: it is sent on where a 307 or 308 leads.
    """

    body: bytes
    content_type: str
    method: str = "POST"
    wants_body: bool = False
    is_redirected: bool = False


@dataclass(slots=True)
class RedirectChain:
    """One request through its redirects: a GET, or what its payload says.

    `target` is where the next request of the chain goes. `time_spent` leaves out the wait for turns.
    """

    url: str
    target: RequestTarget
    limits: FetchLimits
    options: FetchOptions
    validators: Validators
    payload: RequestPayload | None = None
    time_spent: timedelta = timedelta(0)
    permanent_url: str | None = None
    is_private: bool = False
    _first_target: RequestTarget = field(init=False)
    _visited: set[str] = field(init=False)
    _only_permanent: bool = field(init=False, default=True)

    def __post_init__(self) -> None:
        self._first_target = self.target
        self._visited = {self.target.url}

    @property
    def time_left(self) -> timedelta:
        return self.limits.total - self.time_spent

    def headers(self, user_agent: str) -> dict[str, str]:
        """The headers for the present target; secret ones only if it is the server that they were given for."""
        headers = request_headers(user_agent, self.validators, self.options)
        if self._first_target.may_share_secrets_with(self.target):
            headers |= secret_headers(self.options, self._first_target.credentials)
        if self.payload is not None and self.payload.content_type:
            headers["Content-Type"] = self.payload.content_type
        return headers

    def follows(self, response: HttpResponse) -> bool:
        """Whether the response is a redirect to follow. A payload is for the first target, unless it says otherwise."""
        may_follow = self.payload is None or self.payload.is_redirected
        statuses = REDIRECT_STATUSES if self.payload is None else SAME_METHOD_REDIRECTS
        return may_follow and response.status in statuses and bool(response.raw(b"location").strip())

    def wants_body(self, status: int) -> bool:
        if self.payload is not None:
            return self.payload.wants_body and 200 <= status <= 299
        return status in BODY_STATUSES

    def follow(self, response: HttpResponse) -> None:
        """Makes the redirect's location the next target; raises `RefusedError` for a loop or too many redirects."""
        target = resolve_location(self.target, response.raw(b"location"))
        if target.url in self._visited:
            raise RefusedError("redirect_loop", Message("fetch.redirect_loop"))
        if len(self._visited) > self.limits.redirects:
            raise RefusedError("too_many_redirects", Message("fetch.too_many_redirects", n=self.limits.redirects))
        self._only_permanent = self._only_permanent and response.status in PERMANENT_REDIRECTS
        if self._only_permanent:
            self.permanent_url = target.url
        self._visited.add(target.url)
        self.target = target

    def conclude(self, response: HttpResponse, now: datetime) -> FetchOutcome:
        """The outcome that the last response stands for."""
        ends = (self.url, self.target.url)
        match response.status:
            case status if status in BODY_STATUSES or (self.payload is not None and 200 <= status <= 299):
                return self._response(response, now)
            case 304 if self.validators != Validators():
                return self._not_modified(response, now)
            case 206:
                return Retryable(*ends, "partial", Message("fetch.partial"), 206)
            case 410:
                return Gone(*ends)
            case 429:
                return self._throttled(response, "domain", now)
            case 503:
                return self._throttled(response, "url", now)
            case status if 500 <= status <= 599:
                return Retryable(*ends, "http_5xx", Message("fetch.server_error", status=status), status)
        return HttpError(*ends, response.status)

    def _response(self, response: HttpResponse, now: datetime) -> Response:
        """A success. Validators of other statuses than 200 are dropped."""
        return Response(
            url=self.url,
            final_url=self.target.url,
            status=response.status,
            headers=response.headers,
            body=response.body,
            content_type=response.text("content-type"),
            validators=validators_of(response) if response.status == 200 else Validators(),
            freshness=freshness_of(response),
            permanent_url=self.permanent_url,
            delimited=response.delimited,
            received_bytes=response.received_bytes,
            fetched_at=now,
            elapsed=self.time_spent,
            is_private=self.is_private,
            certificate_until=response.certificate_until,
        )

    def failed(self, error: RefusedError | RetryableError) -> Refused | Retryable:
        """The outcome of an error."""
        if isinstance(error, RefusedError):
            return Refused(self.url, self.target.url, error.kind, error.message)
        return Retryable(self.url, self.target.url, error.kind, error.message)

    def deferred(self, wait: timedelta) -> Deferred:
        return Deferred(self.url, self.target.url, datetime.now(UTC) + wait)

    def _not_modified(self, response: HttpResponse, now: datetime) -> NotModified:
        """Keeps the validators that were sent: a 304 with another ETag does not bring the body of that ETag."""
        sent, received = self.validators, validators_of(response)
        validators = Validators(sent.etag or received.etag, sent.last_modified or received.last_modified)
        return NotModified(
            self.url,
            self.target.url,
            validators,
            freshness_of(response),
            self.permanent_url,
            now,
            self.time_spent,
            is_private=self.is_private,
            certificate_until=response.certificate_until,
        )

    def _throttled(self, response: HttpResponse, scope: PauseScope, now: datetime) -> Throttled:
        retry_after = retry_after_of(response, now)
        until = now + (retry_after or DEFAULT_PAUSES[scope])
        return Throttled(self.url, self.target.url, response.status, scope, retry_after, until)
