"""Detecting an outage of our own network."""

from datetime import UTC, datetime, timedelta

import pytest

from feedmill.collect.scheduling.outage import FEWEST_HOSTS, WINDOW, OutageDetector
from feedmill.i18n.messages import Message
from feedmill.model.fetch_outcome import Deferred, FetchOutcome, Gone, HttpError, Refused, Retryable

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
UNREACHED = Retryable("u", "u", "connect", Message("fetch.closed"))
REACHED = HttpError("u", "u", 404)


def guard(*seen: tuple[str, FetchOutcome], at: datetime = NOW) -> OutageDetector:
    made = OutageDetector()
    for host, outcome in seen:
        made.record(f"https://{host}/feed", outcome, at)
    return made


def many(outcome: FetchOutcome, count: int, name: str = "h") -> list[tuple[str, FetchOutcome]]:
    return [(f"{name}{number}.example", outcome) for number in range(count)]


def test_it_is_an_outage_when_hardly_any_of_several_hosts_can_be_reached() -> None:
    assert guard(*many(UNREACHED, 8), *many(REACHED, 2, "ok")).is_down(NOW)


def test_it_is_no_outage_when_some_hosts_can_be_reached() -> None:
    assert not guard(*many(UNREACHED, 8), *many(REACHED, 3, "ok")).is_down(NOW)


def test_a_few_hosts_prove_nothing() -> None:
    assert not guard(*many(UNREACHED, FEWEST_HOSTS - 1)).is_down(NOW)
    assert not guard(*[("one.example", UNREACHED)] * 50).is_down(NOW)


def test_old_results_do_not_count() -> None:
    assert not guard(*many(UNREACHED, 8), at=NOW - WINDOW - timedelta(seconds=1)).is_down(NOW)


def test_the_last_result_of_a_host_counts() -> None:
    assert not guard(*many(UNREACHED, 8), *many(REACHED, 8)).is_down(NOW)
    assert guard(*many(REACHED, 8), *many(UNREACHED, 8)).is_down(NOW)


def test_a_clock_that_was_set_back_does_not_prolong_an_outage() -> None:
    later = guard(*many(UNREACHED, 8), at=NOW + timedelta(hours=3))

    assert not later.is_down(NOW)


@pytest.mark.parametrize("kind", ["dns", "connect", "timeout"])
def test_failures_that_may_be_our_network_count_as_unreachable(kind: str) -> None:
    assert guard(*many(Retryable("u", "u", kind, ""), 8)).is_down(NOW)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "outcome", [Gone("u", "u"), Retryable("u", "u", "http_5xx", "", 500), Retryable("u", "u", "tls", ""), REACHED]
)
def test_any_response_counts_as_reachable(outcome: FetchOutcome) -> None:
    assert not guard(*many(outcome, 8)).is_down(NOW)


@pytest.mark.parametrize(
    "outcome", [Deferred("u", "u", NOW), Refused("u", "u", "address", ""), Refused("u", "u", "scheme", "")]
)
def test_a_request_that_was_never_sent_does_not_count(outcome: FetchOutcome) -> None:
    assert guard(*many(UNREACHED, 8), *many(outcome, 50, "quiet")).is_down(NOW)
