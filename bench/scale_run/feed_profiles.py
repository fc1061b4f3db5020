"""What each feed of the simulated web is like, by its number: how often it publishes, how it answers, its host.

The shares follow what crawlers of the whole web of feeds report rather than one person's list: a few feeds publish most
of the entries (the rates follow a power law), most publish nothing for weeks, and some are dead. With the product's
schedule that makes about 1.8 fetches a feed and day.
"""

from dataclasses import dataclass
from typing import NamedTuple

DAY = 86_400
BIG_HOST = "crowded.example"
BIG_HOST_FEEDS = 50_000
FEEDS_PER_HOST = 3
# Entries that a feed shows.
WINDOW = 10
DEAD_FAILURES = 20
OK, NO_VALIDATORS, SLOW, FLAKY, THROTTLING, DEAD = "ok", "no validators", "slow", "flaky", "throttling", "dead"


class Rhythm(NamedTuple):
    """A kind of feed: its share, the seconds between two entries, and how many it has stored on average."""

    name: str
    share: float
    period: int
    stored: float

    @property
    def is_silent(self) -> bool:
        return self.period > 15 * DAY


RHYTHMS = (
    Rhythm("every half hour", 0.001, 1800, 800),
    Rhythm("every two hours", 0.005, 7200, 300),
    Rhythm("twice a day", 0.020, 43_200, 120),
    Rhythm("every three days", 0.030, 3 * DAY, 60),
    Rhythm("every ten days", 0.060, 10 * DAY, 35),
    Rhythm("silent", 0.884, 40 * DAY, 6),
)
MEAN_STORED = sum(rhythm.share * rhythm.stored for rhythm in RHYTHMS)
ANSWERS = ((DEAD, 0.04), (FLAKY, 0.01), (SLOW, 0.01), (THROTTLING, 0.002), (NO_VALIDATORS, 0.03))


@dataclass(frozen=True, slots=True)
class FeedProfile:
    """`stored` entries were published before the day began, the last of them at `last_at` (seconds since 1970)."""

    number: int
    host: str
    rhythm: Rhythm
    answers: str
    stored: int
    last_at: int

    @property
    def url(self) -> str:
        return f"https://{self.host}/{self.number}.xml"

    def newest_at(self, now: float) -> int:
        """The place of its newest entry at that time, from 0."""
        if self.rhythm.is_silent:
            return self.stored - 1
        return self.stored - 1 + max(int(now - self.last_at) // self.rhythm.period, 0)

    def published_at(self, place: int) -> int:
        return self.last_at + (place - self.stored + 1) * self.rhythm.period


class FeedProfiles:
    """The feeds 1 … `feeds`, with `entries` in all on average, on the day that begins at `start` (seconds)."""

    def __init__(self, feeds: int, entries: int, start: int) -> None:
        self.feeds, self.start = feeds, start
        self._scale = entries / feeds / MEAN_STORED
        self._on_big_host = min(BIG_HOST_FEEDS, feeds // 20)

    def profile(self, number: int) -> FeedProfile:
        rhythm = _choose_rhythm(_share(number, 1))
        # The crowded host can be asked once a second, so feeds that publish often are not on it.
        is_crowded = rhythm.is_silent and _share(number, 2) * self.feeds * RHYTHMS[-1].share < self._on_big_host
        host = BIG_HOST if is_crowded else f"h{number // FEEDS_PER_HOST}.example"
        stored = max(int(rhythm.stored * self._scale * (0.4 + 1.2 * _share(number, 3))), 3)
        age = 25 * DAY + _share(number, 4) * 700 * DAY if rhythm.is_silent else _share(number, 4) * rhythm.period
        last_at = int(self.start - age)
        return FeedProfile(number, host, rhythm, _choose_answers(_share(number, 5)), stored, last_at)


def _choose_rhythm(share: float) -> Rhythm:
    for rhythm in RHYTHMS:
        if share < rhythm.share:
            return rhythm
        share -= rhythm.share
    return RHYTHMS[-1]


def _choose_answers(share: float) -> str:
    for name, part in ANSWERS:
        if share < part:
            return name
        share -= part
    return OK


def _share(number: int, purpose: int) -> float:
    """A number from 0 to 1 that is fixed for the feed."""
    mixed = (number * 0x9E3779B97F4A7C15 + purpose * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
    mixed = ((mixed ^ (mixed >> 31)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
    return (mixed >> 11) / 2**53
