"""The next fetch and its reason: exact tables, and bounds that hold for any input."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedmill.collect.scheduling.cadence import (
    CadenceSettings,
    PollingHints,
    PublishingPattern,
    after_failure,
    after_outage,
    after_success,
    after_throttling,
    automatic_interval,
    median_gap,
)
from feedmill.i18n.messages import Message, verbatim

# A Wednesday.
NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
RULES, NO_HINTS = CadenceSettings(), PollingHints()
BUSY = PublishingPattern(HOUR, NOW)


def wait(
    pattern: PublishingPattern = BUSY,
    interval: timedelta | None = None,
    hints: PollingHints = NO_HINTS,
    jitter: float = 0.0,
) -> timedelta:
    at = after_success(NOW, pattern, interval, hints, RULES, jitter).at
    assert at is not None
    return at - NOW


def why(
    pattern: PublishingPattern = BUSY, interval: timedelta | None = None, hints: PollingHints = NO_HINTS
) -> Message:
    return after_success(NOW, pattern, interval, hints, RULES, 0).why


@pytest.mark.parametrize(
    ("gap", "silence", "minutes"),
    [
        (MINUTE, 0 * HOUR, 15),
        (30 * MINUTE, 0 * HOUR, 15),
        (HOUR, 0 * HOUR, 30),
        (100 * MINUTE, 0 * HOUR, 50),
        (4 * HOUR, 0 * HOUR, 120),
        (10 * DAY, 0 * HOUR, 120),
        (None, 0 * HOUR, 60),
        (HOUR, 12 * HOUR, 30),
        (HOUR, 2 * DAY, 120),
        (HOUR, 4 * DAY, 240),
        (None, 10 * DAY, 600),
        (10 * DAY, 24 * DAY, 1440),
        (HOUR, 400 * DAY, 1440),
    ],
)
def test_the_interval_is_half_the_median_gap_within_bounds_and_longer_for_silent_feeds(
    gap: timedelta | None, silence: timedelta, minutes: int
) -> None:
    assert automatic_interval(NOW, PublishingPattern(gap, NOW - silence)) == minutes * MINUTE


@pytest.mark.parametrize(
    ("hours_ago", "gap"),
    [
        ([], None),
        ([1], None),
        ([1, 2], None),
        ([1, 2, 3], HOUR),
        ([1, 2, 3, 103], HOUR),
        ([0, 0, 0], 0 * HOUR),
        ([-5, 1, 3, 5], 2 * HOUR),
        ([5, 1, 3], 2 * HOUR),
        ([*range(1, 21), *range(100, 1000, 100)], HOUR),
    ],
)
def test_the_gap_is_the_median_of_the_newest_entries(hours_ago: list[int], gap: timedelta | None) -> None:
    assert median_gap(NOW, [NOW - hours * HOUR for hours in hours_ago]) == gap


@pytest.mark.parametrize(
    ("interval", "minutes"),
    [(MINUTE, 15), (15 * MINUTE, 15), (16 * MINUTE, 16), (6 * HOUR, 360), (7 * DAY, 7 * 1440)],
)
def test_a_subscribers_interval_is_used_down_to_the_floor(interval: timedelta, minutes: int) -> None:
    assert wait(interval=interval) == minutes * MINUTE
    assert wait(interval=interval, hints=PollingHints(20 * HOUR, "ttl")) == minutes * MINUTE


def test_an_operators_floor_is_kept() -> None:
    schedule = after_success(NOW, BUSY, MINUTE, NO_HINTS, CadenceSettings(floor=MINUTE), 0)

    assert schedule.at == NOW + MINUTE


@pytest.mark.parametrize(
    ("hint", "minutes"),
    [(None, 30), (MINUTE, 30), (30 * MINUTE, 30), (31 * MINUTE, 31), (6 * HOUR, 360), (DAY, 1440), (365 * DAY, 1440)],
)
def test_the_servers_hints_raise_the_interval_up_to_a_day(hint: timedelta | None, minutes: int) -> None:
    assert wait(hints=PollingHints(hint, "Expires")) == minutes * MINUTE


@pytest.mark.parametrize(
    ("hints", "at"),
    [
        (PollingHints(skip_hours=frozenset({10})), datetime(2026, 2, 18, 9, 0, tzinfo=UTC)),
        (PollingHints(skip_hours=frozenset({9})), datetime(2026, 2, 18, 10, 0, tzinfo=UTC)),
        (PollingHints(skip_hours=frozenset({9, 10, 11})), datetime(2026, 2, 18, 12, 0, tzinfo=UTC)),
        (PollingHints(skip_hours=frozenset(range(9, 24))), datetime(2026, 2, 19, 0, 0, tzinfo=UTC)),
        (PollingHints(skip_days=frozenset({2})), datetime(2026, 2, 19, 0, 0, tzinfo=UTC)),
        (PollingHints(skip_days=frozenset({2, 3, 4})), NOW + DAY),
        (PollingHints(skip_hours=frozenset(range(24))), datetime(2026, 2, 18, 9, 0, tzinfo=UTC)),
        (PollingHints(skip_days=frozenset(range(7))), datetime(2026, 2, 18, 9, 0, tzinfo=UTC)),
        (PollingHints(DAY, "ttl", skip_hours=frozenset({8})), NOW + DAY),
    ],
)
def test_skipped_hours_and_days_are_respected_but_never_for_longer_than_a_day(
    hints: PollingHints, at: datetime
) -> None:
    assert after_success(NOW, BUSY, None, hints, RULES, 0).at == at


def test_jitter_adds_up_to_a_tenth() -> None:
    assert [wait(jitter=jitter) for jitter in (0, 0.5, 1)] == [30 * MINUTE, 31.5 * MINUTE, 33 * MINUTE]
    assert wait(PublishingPattern(HOUR, NOW - 400 * DAY), jitter=1) == DAY


def test_a_feed_that_overflows_is_fetched_twice_as_often() -> None:
    slow, quick = PublishingPattern(4 * HOUR, NOW), PublishingPattern(MINUTE, NOW)

    halved = after_success(NOW, slow, None, NO_HINTS, RULES, 0, overflows=True)
    least = after_success(NOW, quick, None, NO_HINTS, RULES, 0, overflows=True)

    assert (halved.at, least.at) == (NOW + HOUR, NOW + 15 * MINUTE)
    assert str(halved.why) == "every 60 min, because it publishes more than it shows at once"


@pytest.mark.parametrize(
    ("failures", "minutes"),
    [(1, 30), (2, 60), (3, 120), (4, 240), (5, 480), (6, 960), (7, 1440), (9, 1440), (10, 1440), (10**6, 1440)],
)
def test_the_back_off_doubles_up_to_a_day_with_ten_percent_jitter(failures: int, minutes: int) -> None:
    schedules = [after_failure(NOW, failures, verbatim("HTTP 404"), RULES, jitter) for jitter in (0, 0.5, 1)]

    assert [schedule.at for schedule in schedules] == [
        NOW + min(minutes * MINUTE * share, DAY) for share in (0.9, 1, 1.1)
    ]


def test_the_back_off_is_configurable_and_a_failing_feed_is_still_tried_once_a_day() -> None:
    rules = CadenceSettings(backoff_base=MINUTE, backoff_cap=10 * DAY)

    tries = [after_failure(NOW, failures, verbatim("x"), rules, 0.5).at for failures in (1, 2, 9, 10, 20)]

    assert tries == [NOW + length for length in (MINUTE, 2 * MINUTE, 256 * MINUTE, 512 * MINUTE, DAY)]


@pytest.mark.parametrize(
    ("asked", "jitter", "waited"),
    [
        (120 * timedelta(seconds=1), 0, 120 * timedelta(seconds=1)),
        (100 * MINUTE, 1, 105 * MINUTE),
        (10 * MINUTE, 1, 11 * MINUTE),
        (7 * DAY, 1, 7 * DAY + 5 * MINUTE),
    ],
)
def test_a_throttled_feed_waits_at_least_as_long_as_the_server_asked(
    asked: timedelta, jitter: float, waited: timedelta
) -> None:
    assert after_throttling(NOW, asked, 429, jitter).at == NOW + waited


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (why(PublishingPattern(90 * MINUTE, NOW)), "every 45 min, because it publishes about 16 entries a day"),
        (why(PublishingPattern(3 * DAY, NOW)), "every 2 h, because it publishes about every 3 days"),
        (why(PublishingPattern(DAY, NOW)), "every 2 h, because it publishes about once a day"),
        (why(PublishingPattern(HOUR, NOW - 6 * DAY)), "every 6 h, because it has been silent for 6 days"),
        (
            why(PublishingPattern(None, NOW)),
            "every 60 min, because it has too few entries to tell how often it publishes",
        ),
        (why(PublishingPattern(0 * HOUR, NOW)), "every 15 min, because it publishes many entries at once"),
        (why(PublishingPattern(HOUR, NOW - 400 * DAY)), "once a day, because it has been silent for 400 days"),
        (why(interval=20 * MINUTE), "every 20 min, as a subscriber set it"),
        (why(interval=5 * MINUTE), "every 15 min, the shortest interval for a public server (5 min was set)"),
        (why(hints=PollingHints(2 * HOUR, "Expires")), "every 2 h, as its publisher asks (Expires)"),
        (why(hints=PollingHints(DAY, "ttl")), "once a day, as its publisher asks (ttl)"),
        (
            why(hints=PollingHints(skip_hours=frozenset({9}))),
            "every 30 min, because it publishes about 24 entries a day, "
            "delayed because it asks not to be fetched sooner",
        ),
        (
            after_failure(NOW, 1, verbatim("HTTP 404"), RULES, 0).why,
            "a retry, because it failed: HTTP 404",
        ),
        (
            after_failure(NOW, 3, verbatim("no connection"), RULES, 0).why,
            "a retry, because it failed 3 times in a row, the last time with: no connection",
        ),
        (
            after_failure(NOW, 12, verbatim("HTTP 500"), RULES, 0).why,
            "retried once a day, because it failed 12 times in a row, the last time with: HTTP 500",
        ),
        (
            after_throttling(NOW, 2 * HOUR, 429, 0).why,
            "its server asked us to wait for 2 h (HTTP 429, Retry-After)",
        ),
        (
            after_outage(NOW, 0).why,
            "retried soon, because our own network seems to be down; this does not count as a failure of the feed",
        ),
    ],
)
def test_the_reason_is_readable(said: Message, expected: str) -> None:
    assert str(said) == expected


lengths = st.none() | st.timedeltas(timedelta(), 4000 * DAY)
jitter = st.floats(0, 1)
moments = st.none() | st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
hints = st.builds(
    PollingHints, lengths, st.just("ttl"), st.frozensets(st.integers(0, 23)), st.frozensets(st.integers(0, 6))
)


@given(st.builds(PublishingPattern, lengths, moments), hints, jitter, st.booleans())
def test_a_healthy_feed_is_due_again_after_15_minutes_to_a_day(
    pattern: PublishingPattern, hints: PollingHints, jitter: float, overflows: bool
) -> None:
    at = after_success(NOW, pattern, None, hints, RULES, jitter, overflows=overflows).at

    assert at is not None
    assert 15 * MINUTE <= at - NOW <= DAY


@given(st.timedeltas(MINUTE, 7 * DAY), hints, jitter)
def test_a_set_interval_is_never_exceeded_beyond_a_day(interval: timedelta, hints: PollingHints, jitter: float) -> None:
    at = after_success(NOW, BUSY, interval, hints, RULES, jitter).at

    assert at is not None
    assert max(interval, 15 * MINUTE) <= at - NOW <= max(interval, DAY)


@given(st.integers(1, 10**9), jitter)
def test_a_failing_feed_is_tried_again_in_the_future_and_within_the_cap(failures: int, jitter: float) -> None:
    at = after_failure(NOW, failures, verbatim("x"), RULES, jitter).at

    assert at is not None
    assert 27 * MINUTE <= at - NOW <= DAY
