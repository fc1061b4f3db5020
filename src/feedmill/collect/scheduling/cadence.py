"""Computes when a feed is fetched next, and the reason. Pure: clock and jitter are arguments."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from itertools import pairwise
from statistics import median

from feedmill.i18n.messages import Message
from feedmill.model.feed import ERROR_AFTER
from feedmill.model.refresh import Schedule

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)

# For private addresses that the operator allowed.
PRIVATE_FLOOR = MINUTE
SHORTEST_INTERVAL, LONGEST_INTERVAL = 15 * MINUTE, 120 * MINUTE
LONGEST_SILENT_INTERVAL = DAY
LONGEST_HINT = DAY
# A feed that is silent for two days is fetched every two hours, one that is silent for ten days every ten hours.
SILENCE_SHARE = 24
# Gaps are measured between the newest entries only, so that former patterns don't count.
SAMPLED_ENTRIES = 20
# For feeds with too few entries to measure gaps.
DEFAULT_INTERVAL = 60 * MINUTE
OUTAGE_PAUSE = 5 * MINUTE
JITTER_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class CadenceSettings:
    """The settings that the schedule depends on."""

    backoff_base: timedelta = 30 * MINUTE
    backoff_cap: timedelta = DAY
    floor: timedelta = SHORTEST_INTERVAL


class IntervalSetter(Enum):
    """Who set the interval of a feed. For one that a person added it may be a subscriber or the command."""

    SUBSCRIBER = "subscriber"
    FEEDS_FILE = "feeds_file"
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class PollingHints:
    """What the server and the feed say about polling: an interval and its source, hours and days to skip."""

    hint: timedelta | None = None
    hint_name: str = ""
    skip_hours: frozenset[int] = frozenset()
    skip_days: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class PublishingPattern:
    """How a feed publishes: the median gap between entries (None: too few entries), and when the last one came."""

    usual_gap: timedelta | None = None
    last_entry_at: datetime | None = None

    def silence(self, now: datetime) -> timedelta:
        return max(now - self.last_entry_at, timedelta()) if self.last_entry_at else timedelta()


def after_success(
    now: datetime,
    pattern: PublishingPattern,
    interval: timedelta | None,
    hints: PollingHints,
    rules: CadenceSettings,
    jitter: float,
    *,
    overflows: bool = False,
    set_by: IntervalSetter = IntervalSetter.SUBSCRIBER,
) -> Schedule:
    """The next fetch after a success; `jitter` is between 0 and 1. `set_by` is who set `interval`."""
    if interval is None:
        length, why = _automatic(now, pattern, hints, overflows)
    else:
        length, why = _set_interval(interval, set_by, rules)
    # Neither jitter nor the feed's own hints delay a fetch for longer than a day.
    latest = now + max(length, LONGEST_HINT)
    at = min(now + length * (1 + JITTER_SHARE * jitter), latest)
    open_at = min(_after_skipped(at, hints), latest)
    if open_at != at:
        why = Message("schedule.put_off", why=why)
    return Schedule(open_at, why)


def after_failure(now: datetime, failures: int, failure: Message, rules: CadenceSettings, jitter: float) -> Schedule:
    """The next try after `failures` failures in a row."""
    longest = min(rules.backoff_cap, DAY) if failures >= ERROR_AFTER else rules.backoff_cap
    length = min(rules.backoff_base * 2 ** min(failures - 1, 20), longest)
    because = _failed(failures, failure)
    why = Message("schedule.retry", because=because)
    if failures >= ERROR_AFTER:
        why = Message("schedule.retry_daily", every=_every(length), because=because)
    return Schedule(now + min(length * (1 + JITTER_SHARE * (2 * jitter - 1)), longest), why)


def after_truncation(now: datetime, times: int, usual: Schedule, rules: CadenceSettings, jitter: float) -> Schedule:
    """The next fetch after `times` truncated documents in a row: as after failures, but no later than usual."""
    longest = max(rules.backoff_cap, rules.floor)
    length = min(max(rules.backoff_base * 2 ** min(times - 1, 20), rules.floor), longest)
    at = now + min(length * (1 + JITTER_SHARE * jitter), longest)
    if usual.at is not None and usual.at <= at:
        return usual
    return Schedule(at, Message("schedule.truncated"))


def while_pushed(now: datetime, hub: str, jitter: float) -> Schedule:
    """The next fetch while a hub pushes what is new: one a day finds out whether it still does."""
    why = Message("schedule.pushed", every=_every(DAY), hub=hub)
    return Schedule(now + DAY * (1 - JITTER_SHARE * jitter), why)


def after_throttling(now: datetime, retry_after: timedelta, status: int, jitter: float) -> Schedule:
    """The next fetch after Retry-After, a little later because other clients wait for the same time."""
    at = now + retry_after + min(retry_after * JITTER_SHARE, 5 * MINUTE) * jitter
    why = Message("schedule.retry_after", length=retry_after, status=status)
    return Schedule(at, why)


def after_outage(now: datetime, jitter: float) -> Schedule:
    at = now + OUTAGE_PAUSE * (1 + jitter)
    return Schedule(at, Message("schedule.own_outage"))


def median_gap(now: datetime, dates: Sequence[datetime]) -> timedelta | None:
    """The median gap between the newest entries; None if there are too few."""
    newest = sorted((date for date in dates if date <= now), reverse=True)[:SAMPLED_ENTRIES]
    gaps = [(later - earlier).total_seconds() for later, earlier in pairwise(newest)]
    return timedelta(seconds=median(gaps)) if len(gaps) >= 2 else None


def automatic_interval(now: datetime, pattern: PublishingPattern) -> timedelta:
    """Half the median gap within bounds, longer for a feed that has gone silent."""
    length = (
        DEFAULT_INTERVAL
        if pattern.usual_gap is None
        else min(max(pattern.usual_gap / 2, SHORTEST_INTERVAL), LONGEST_INTERVAL)
    )
    return max(length, min(pattern.silence(now) / SILENCE_SHARE, LONGEST_SILENT_INTERVAL))


def _automatic(
    now: datetime, pattern: PublishingPattern, hints: PollingHints, overflows: bool
) -> tuple[timedelta, Message]:
    length = automatic_interval(now, pattern)
    reason = _reason(now, pattern)
    if overflows:
        length = max(length / 2, SHORTEST_INTERVAL)
        reason = Message("schedule.overflows")
    hint = min(hints.hint, LONGEST_HINT) if hints.hint else None
    if hint and hint > length:
        return hint, Message("schedule.as_asked", every=_every(hint), name=hints.hint_name)
    return length, Message("schedule.because", every=_every(length), because=reason)


def _set_interval(interval: timedelta, set_by: IntervalSetter, rules: CadenceSettings) -> tuple[timedelta, Message]:
    if interval >= rules.floor:
        return interval, _as_set(_every(interval), set_by)
    return rules.floor, Message("schedule.floor", every=_every(rules.floor), length=interval)


def _as_set(every: Message, set_by: IntervalSetter) -> Message:
    match set_by:
        case IntervalSetter.SUBSCRIBER:
            return Message("schedule.as_set", every=every)
        case IntervalSetter.FEEDS_FILE:
            return Message("schedule.as_declared", every=every)
        case IntervalSetter.PERSON:
            return Message("schedule.as_given", every=every)


def _reason(now: datetime, pattern: PublishingPattern) -> Message:
    gap, silence = pattern.usual_gap, pattern.silence(now)
    if silence > 2 * DAY and (gap is None or silence > 3 * gap):
        return Message("schedule.silent", length=silence)
    if gap is None:
        return Message("schedule.too_few_entries")
    if gap < MINUTE:
        return Message("schedule.publishes_in_bulk")
    if gap <= DAY / 2:
        return Message("schedule.publishes_per_day", n=round(DAY / gap))
    return Message("schedule.publishes_every", every=_every(gap))


def _after_skipped(at: datetime, hints: PollingHints) -> datetime:
    """The first time from `at` on that the feed does not exclude, at most a day later."""
    if len(hints.skip_hours) >= 24 or len(hints.skip_days) >= 7:
        return at
    time = at.astimezone(UTC)
    for _ in range(24):
        if time.hour not in hints.skip_hours and time.weekday() not in hints.skip_days:
            return at if time == at else time
        time = (time + HOUR).replace(minute=at.minute, second=at.second)
    return time


def _every(length: timedelta) -> Message:
    return Message("schedule.once_a_day") if length == DAY else Message("schedule.every", length=length)


def _failed(times: int, failure: Message) -> Message:
    return Message("schedule.failed", n=times, what=failure)
