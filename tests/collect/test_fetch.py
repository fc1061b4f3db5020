"""A conditional request with a few quick retries."""

from datetime import UTC, datetime, timedelta

import pytest

from feedmill.collect.fetch import fetch_feed, retry_delay
from feedmill.model.feed import Feed
from feedmill.model.fetch_options import FetchOptions
from feedmill.model.fetch_outcome import (
    Deferred,
    FetchOutcome,
    Gone,
    HttpError,
    Refused,
    Retryable,
    Throttled,
    Validators,
)
from feedmill.outbound.client import DEFAULT_OPTIONS
from feedmill.outbound.encrypted_options import parse_options
from feedmill.outbound.fetch_limits import FetchLimits

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
FEED = Feed(1, "https://example.org/feed", NOW)
BUSY = Retryable("u", "u", "http_5xx", "the server failed with 500", 500)
WAIT = Deferred("u", "u", NOW)


class Answers:
    """A web that gives one response after another; the last one repeats."""

    def __init__(self, *outcomes: FetchOutcome) -> None:
        self._outcomes = list(outcomes)
        self.asked: list[tuple[str, Validators | None, FetchOptions]] = []
        self.rested: list[float] = []

    async def get(
        self,
        url: str,
        validators: Validators | None = None,
        limits: FetchLimits | None = None,
        options: FetchOptions = DEFAULT_OPTIONS,
    ) -> FetchOutcome:
        self.asked.append((url, validators, options))
        return self._outcomes.pop(0) if len(self._outcomes) > 1 else self._outcomes[0]

    async def rest(self, seconds: float) -> None:
        self.rested.append(seconds)


async def fetch(*outcomes: FetchOutcome, feed: Feed = FEED, jitter: float = 0.0) -> tuple[FetchOutcome, Answers]:
    web = Answers(*outcomes)
    return await fetch_feed(web, feed, web.rest, lambda: jitter), web


@pytest.mark.parametrize(("jitter", "rests"), [(0.0, [2, 4, 8]), (0.5, [1.5, 3, 6]), (1.0, [1, 2, 4])])
async def test_three_quick_retries_with_doubling_delays_shortened_by_jitter(jitter: float, rests: list[float]) -> None:
    outcome, web = await fetch(BUSY, jitter=jitter)

    assert (outcome, len(web.asked), web.rested) == (BUSY, 4, rests)


@pytest.mark.parametrize(("attempt", "seconds"), [(0, 2), (3, 16), (4, 32), (5, 60), (20, 60)])
def test_no_delay_is_longer_than_a_minute(attempt: int, seconds: int) -> None:
    assert retry_delay(attempt, 0) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "outcome",
    [
        HttpError("u", "u", 404),
        Gone("u", "u"),
        Throttled("u", "u", 503, "url", None, NOW),
        Throttled("u", "u", 429, "domain", timedelta(seconds=1), NOW),
        Refused("u", "u", "too_large", ""),
        WAIT,
    ],
)
async def test_a_failure_that_is_not_retryable_is_not_retried(outcome: FetchOutcome) -> None:
    got, web = await fetch(outcome)

    assert (got, len(web.asked), web.rested) == (outcome, 1, [])


async def test_the_first_success_ends_the_retries() -> None:
    outcome, web = await fetch(BUSY, BUSY, Gone("u", "u"))

    assert (outcome, web.rested) == (Gone("u", "u"), [2, 4])


async def test_a_retry_without_a_turn_at_the_host_reports_the_first_failure() -> None:
    outcome, web = await fetch(BUSY, WAIT)

    assert outcome == BUSY
    assert len(web.asked) == 4


@pytest.mark.parametrize(
    ("etag", "last_modified", "validators"),
    [
        (None, None, None),
        ('"1"', None, Validators('"1"')),
        (None, "yesterday", Validators(None, "yesterday")),
        ('"1"', "yesterday", Validators('"1"', "yesterday")),
    ],
)
async def test_the_feeds_validators_are_sent(
    etag: str | None, last_modified: str | None, validators: Validators | None
) -> None:
    feed = Feed(1, FEED.url, NOW, etag=etag, last_modified=last_modified)

    _, web = await fetch(Gone("u", "u"), feed=feed)

    assert web.asked == [(FEED.url, validators, DEFAULT_OPTIONS)]


def test_the_feeds_own_options_are_read_from_its_row() -> None:
    assert parse_options(None) == DEFAULT_OPTIONS
    assert parse_options('{"user_agent": "x", "basic_auth": ["a", "b"]}') == FetchOptions(
        user_agent="x", basic_auth=("a", "b")
    )
