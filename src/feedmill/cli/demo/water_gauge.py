"""The feed of the demo that lives: a gauge that writes an entry every minute."""

import math
from datetime import datetime, timedelta

from feedmill.cli.demo.demo_feeds import DemoEntry

EVERY, HOUR = timedelta(minutes=1), timedelta(hours=1)
ENTRIES_SHOWN = 20
# So many are there when the demo starts, an hour between two.
FIRST_ENTRIES = 3
REMARKS = (
    "a heron on the left pier",
    "two walkers on the footbridge",
    "a branch went over the weir",
    "the ducks have changed sides",
    "somebody is feeding the ducks",
    "a kingfisher, gone at once",
    "mist over the upper pool",
    "a red kayak, going down",
    "leaves in the screen, cleared",
    "all quiet",
)


def gauge_entries(start: datetime, now: datetime) -> list[tuple[int, DemoEntry]]:
    """The last entries of the gauge with their numbers, the newest first; each stays as it was."""
    last = FIRST_ENTRIES + max(int((now - start) / EVERY), 0)
    return [(number, _entry(number)) for number in range(last, max(last - ENTRIES_SHOWN, 0), -1)]


def _entry(number: int) -> DemoEntry:
    level, before = _level(number), _level(number - 1)
    trend = "rising" if level > before else "falling" if level < before else "steady"
    remark = REMARKS[number % len(REMARKS)]
    return DemoEntry(
        title=f"Water at {level} cm, {trend}: {remark}",
        hours=_age_at_start(number) / HOUR,
        author="The gauge",
        html=f"<p>{level} cm at the old weir, {before} cm the time before. Seen by the gauge keeper: {remark}.</p>",
    )


def _age_at_start(number: int) -> timedelta:
    """How old the entry is when the demo starts; negative for one that is still to come."""
    if number <= FIRST_ENTRIES:
        return (FIRST_ENTRIES + 1 - number) * HOUR
    return (FIRST_ENTRIES - number) * EVERY


def _level(number: int) -> int:
    return round(142 + 9 * math.sin(number / 5) + 3 * math.sin(number * 1.7))
