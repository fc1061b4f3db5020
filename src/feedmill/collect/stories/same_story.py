"""Finds which of the candidates for an entry are the same article. Pure."""

from collections import Counter
from collections.abc import Sequence

from feedmill.collect.stories.evidence import Evidence, find_evidence
from feedmill.collect.stories.sketch import Sketch, decode_sketch
from feedmill.model.stories.signature import STORY_WINDOW, StoryEntry

# So many entries of one feed can't all be the same article: their link leads to a list, their text is a template.
TOO_MANY = 3


def find_same_story(entry: StoryEntry, candidates: Sequence[StoryEntry]) -> list[StoryEntry]:
    """Those of the candidates that are the same article as the entry, the surest first, then the earliest."""
    sketch = decode_sketch(entry.sketch)
    if sketch is None:
        return []
    found = [(evidence, other) for other in candidates if (evidence := _evidence(entry, sketch, other))]
    times = Counter((evidence, other.feed_id) for evidence, other in found)
    kept = [
        (evidence, other)
        for evidence, other in found
        if evidence is Evidence.TITLE or times[evidence, other.feed_id] < TOO_MANY
    ]
    return [other for _, other in sorted(kept, key=lambda pair: (-pair[0], pair[1].at))]


def is_same_story(one: StoryEntry, other: StoryEntry) -> bool:
    """Whether two entries are the same article; symmetric."""
    return bool(find_same_story(one, [other]))


def _evidence(entry: StoryEntry, sketch: Sketch, other: StoryEntry) -> Evidence | None:
    gap = abs(entry.at - other.at)
    other_sketch = decode_sketch(other.sketch) if gap <= STORY_WINDOW else None
    if other_sketch is None:
        return None
    return find_evidence(sketch, other_sketch, gap, same_feed=entry.feed_id == other.feed_id)
