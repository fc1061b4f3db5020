"""When next, and why: pure functions of what a feed did, the clock and a draw of the dice."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from statistics import median

from feedmill.model.feed import ERROR_AFTER
from feedmill.model.refresh import Schedule
from feedmill.model.sentences import Sentence

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)

# What a person may ask of a server of their own.
PRIVATE_FLOOR = MINUTE
QUICKEST, SLOWEST = 15 * MINUTE, 120 * MINUTE
SILENT_SLOWEST = DAY
LONGEST_HINT = DAY
# A feed that is silent for two days is asked every two hours, one that is silent for ten days every ten hours.
SILENCE_SHARE = 24
# Gaps are taken from the newest entries only, so that a feed's old habits don't count.
NEWEST = 20
# With fewer entries there is no rhythm to speak of.
NO_RHYTHM = 60 * MINUTE
OUTAGE_PAUSE = 5 * MINUTE
SPREAD = 0.1


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings that cadence depends on."""

    backoff_base: timedelta = 30 * MINUTE
    backoff_cap: timedelta = DAY
    floor: timedelta = QUICKEST


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the server and the feed ask of those who poll."""

    hint: timedelta | None = None
    hint_name: str = ""
    skip_hours: frozenset[int] = frozenset()
    skip_days: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Habit:
    """How a feed publishes: the median gap between entries (None: too few to tell), and the last one."""

    rhythm: timedelta | None = None
    last_entry_at: datetime | None = None

    def silence(self, now: datetime) -> timedelta:
        return max(now - self.last_entry_at, timedelta()) if self.last_entry_at else timedelta()


def after_success(
    now: datetime, habit: Habit, interval: timedelta | None, wishes: Wishes, rules: Rules, dice: float,
    *, overflows: bool = False,
) -> Schedule:  # fmt: skip
    """The next fetch of a healthy feed; `dice` is between 0 and 1."""
    length, why = _length(now, habit, interval, wishes, rules, overflows)
    # Neither the dice nor the feed's own wishes keep us away for longer than a day.
    latest = now + max(length, LONGEST_HINT)
    at = min(now + length * (1 + SPREAD * dice), latest)
    open_at = min(_after_skipped(at, wishes), latest)
    if open_at != at:
        why = Sentence("{why}, put off because it asks not to be polled sooner", why=why)
    return Schedule(open_at, why)


def after_failure(now: datetime, failures: int, what: str, rules: Rules, dice: float) -> Schedule:
    """The next try after `failures` failures in a row."""
    length = min(rules.backoff_base * 2 ** min(failures - 1, 20), rules.backoff_cap)
    because = _failed(failures, what)
    why = Sentence("tried again after {length}, because {because}", length=length, because=because)
    if failures >= ERROR_AFTER:
        length = min(length, DAY)
        why = Sentence("tried {every}, because {because}", every=_every(length), because=because)
    return Schedule(now + length * (1 + SPREAD * (2 * dice - 1)), why)


def after_throttling(now: datetime, retry_after: timedelta, status: int, dice: float) -> Schedule:
    """Not before the server lets us; a little later, because others wait for the same moment."""
    at = now + retry_after + min(retry_after * SPREAD, 5 * MINUTE) * dice
    why = Sentence(
        "its server asked us to stay away for {length} (HTTP {status}, Retry-After)", length=retry_after, status=status
    )
    return Schedule(at, why)


def after_outage(now: datetime, dice: float) -> Schedule:
    at = now + OUTAGE_PAUSE * (1 + dice)
    return Schedule(at, "tried again soon, because our own network seems to be down; the feed is not blamed")


def rhythm(now: datetime, dates: Sequence[datetime]) -> timedelta | None:
    """The median gap between the newest entries; None when there are too few to tell."""
    newest = sorted((date for date in dates if date <= now), reverse=True)[:NEWEST]
    gaps = [(later - earlier).total_seconds() for later, earlier in pairwise(newest)]
    return timedelta(seconds=median(gaps)) if len(gaps) >= 2 else None


def automatic(now: datetime, habit: Habit) -> timedelta:
    """Half the feed's rhythm within bounds, slower for one that has gone silent."""
    length = NO_RHYTHM if habit.rhythm is None else min(max(habit.rhythm / 2, QUICKEST), SLOWEST)
    return max(length, min(habit.silence(now) / SILENCE_SHARE, SILENT_SLOWEST))


def _length(
    now: datetime, habit: Habit, interval: timedelta | None, wishes: Wishes, rules: Rules, overflows: bool
) -> tuple[timedelta, Sentence]:
    if interval is not None:
        return _as_set(interval, rules)
    length = automatic(now, habit)
    reason = _reason(now, habit)
    if overflows:
        length = max(length / 2, QUICKEST)
        reason = Sentence("it publishes more than it shows at once")
    hint = min(wishes.hint, LONGEST_HINT) if wishes.hint else None
    if hint and hint > length:
        return hint, Sentence("{every}, as it asks us to ({name})", every=_every(hint), name=wishes.hint_name)
    return length, Sentence("{every}, because {because}", every=_every(length), because=reason)


def _as_set(interval: timedelta, rules: Rules) -> tuple[timedelta, Sentence]:
    if interval >= rules.floor:
        return interval, Sentence("{every}, as a subscriber set it", every=_every(interval))
    return rules.floor, Sentence(
        "{every}, the least we leave a server (a subscriber set {length})", every=_every(rules.floor), length=interval
    )


def _reason(now: datetime, habit: Habit) -> Sentence:
    gap, silence = habit.rhythm, habit.silence(now)
    if silence > 2 * DAY and (gap is None or silence > 3 * gap):
        return Sentence("it has been silent for {length}", length=silence)
    if gap is None:
        return Sentence("it has too few entries to know its rhythm")
    if gap < MINUTE:
        return Sentence("it publishes many entries at once")
    if gap <= DAY / 2:
        return Sentence("it publishes about {n} entries a day", n=round(DAY / gap))
    return Sentence("it publishes about {every}", every=_every(gap))


def _after_skipped(at: datetime, wishes: Wishes) -> datetime:
    """The first moment from `at` on that the feed does not exclude, at most a day later."""
    if len(wishes.skip_hours) >= 24 or len(wishes.skip_days) >= 7:
        return at
    moment = at.astimezone(UTC)
    for _ in range(24):
        if moment.hour not in wishes.skip_hours and moment.weekday() not in wishes.skip_days:
            return at if moment == at else moment
        moment = (moment + HOUR).replace(minute=at.minute, second=at.second)
    return moment


def _every(length: timedelta) -> Sentence:
    return Sentence("once a day") if length == DAY else Sentence("every {length}", length=length)


def _failed(times: int, what: str) -> Sentence:
    if times == 1:
        return Sentence("it failed: {what}", what=what)
    return Sentence("it failed {times} times in a row, the last time with: {what}", times=times, what=what)
