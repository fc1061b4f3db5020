"""Records the requests of a discovery and their outcomes, for the user who waits for it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from feedmill.collect.fetch import Fetcher
from feedmill.i18n.messages import Message
from feedmill.model.fetch_options import FetchOptions
from feedmill.model.fetch_outcome import (
    Deferred,
    FetchOutcome,
    Gone,
    HttpError,
    Refused,
    Response,
    Retryable,
    Throttled,
    Validators,
)
from feedmill.outbound.client import DEFAULT_OPTIONS
from feedmill.outbound.fetch_limits import FetchLimits


@dataclass(frozen=True, slots=True)
class DiscoveryStep:
    """A URL that was requested, and its outcome; None while the request runs."""

    url: str
    answer: Message | None


def ignore_step(step: DiscoveryStep) -> None:
    """For callers that do not follow the progress."""


@dataclass(slots=True)
class RecordingFetcher:
    """A fetcher that records each request and its outcome.

    `on_step` is called twice for each request: when it begins, and with its outcome.
    """

    web: Fetcher
    on_step: Callable[[DiscoveryStep], None] = ignore_step
    outcomes: list[tuple[str, FetchOutcome]] = field(default_factory=list)

    async def get(
        self,
        url: str,
        validators: Validators | None = None,
        limits: FetchLimits | None = None,
        options: FetchOptions = DEFAULT_OPTIONS,
    ) -> FetchOutcome:
        self.on_step(DiscoveryStep(url, None))
        outcome = await self.web.get(url, validators, limits, options)
        self.outcomes.append((url, outcome))
        self.on_step(DiscoveryStep(url, describe_outcome(outcome)))
        return outcome

    @property
    def steps(self) -> list[DiscoveryStep]:
        return [DiscoveryStep(url, describe_outcome(outcome)) for url, outcome in self.outcomes]


def describe_outcome(outcome: FetchOutcome) -> Message:
    """The outcome, for a person."""
    match outcome:
        case Response(status=status, content_type=content_type):
            return _describe_response(status, content_type.partition(";")[0])
        case Throttled(status=status):
            return Message("discovery.come_back", status=status)
        case Retryable(detail=detail, status=None) | Refused(detail=detail, status=None):
            return detail
        case Deferred():
            return Message("discovery.not_asked")
        case Gone() | HttpError() | Retryable() | Refused():
            return Message("fetch.http_status", status=outcome.status or 0)
        case _:
            return Message("discovery.no_content")


def _describe_response(status: int, content_type: str) -> Message:
    if not content_type:
        return Message("discovery.untyped", status=status)
    return Message("discovery.typed", status=status, type=content_type)
