"""What tells that two entries are the same article: keys to look candidates up by, and a sketch to verify them."""

from dataclasses import dataclass
from datetime import datetime, timedelta

# Of one entry. An entry with nothing to compare has none.
MAX_STORY_KEYS = 10
# Characters.
MAX_SKETCH = 400
# Entries whose dates are further apart are never the same story.
STORY_WINDOW = timedelta(days=14)


@dataclass(frozen=True, slots=True)
class StorySignature:
    """The signature of an entry. Entries that share a key may be the same story; their sketches decide.

    A key is an integer below 2^53. The sketch is ASCII.
    """

    keys: tuple[int, ...]
    sketch: str


@dataclass(frozen=True, slots=True)
class StoryEntry:
    """An entry to compare with others. `at` is its date, or when it was found if it has none."""

    entry_id: int
    feed_id: int
    at: datetime
    sketch: str


@dataclass(frozen=True, slots=True)
class StoryPlace:
    """The story that an entry joins, if there is one, and those of its keys that are to be stored."""

    story_id: int | None
    keys: tuple[int, ...]
    story: tuple[StoryEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class SignedPlace:
    """The signature of a new entry, and its place among stories."""

    signature: StorySignature
    place: StoryPlace
