"""Decides from their sketches whether entries are the same article. Pure."""

from collections.abc import Sequence

from feedmill.collect.stories.sketch import Sketch, decode_sketch
from feedmill.model.stories.signature import STORY_WINDOW, StoryEntry


def find_same_story(entry: StoryEntry, candidates: Sequence[StoryEntry]) -> list[StoryEntry]:
    """Those of the candidates that are the same article as the entry, the surest first, then the earliest."""
    own = decode_sketch(entry.sketch)
    if own is None:
        return []
    found = []
    for candidate in candidates:
        other = decode_sketch(candidate.sketch)
        if other is not None and _is_same(entry, own, candidate, other):
            found.append(candidate)
    return sorted(found, key=lambda candidate: candidate.at)


def is_same_story(one: StoryEntry, other: StoryEntry) -> bool:
    """Whether two entries are the same article; symmetric."""
    return bool(find_same_story(one, [other]))


def _is_same(one: StoryEntry, a: Sketch, other: StoryEntry, b: Sketch) -> bool:
    if abs(one.at - other.at) > STORY_WINDOW:
        return False
    resemblance = sum(x == y for x, y in zip(a.minima, b.minima, strict=False)) / max(len(a.minima), 1)
    if one.feed_id == other.feed_id:
        return a.title == b.title and resemblance > 0.95
    return bool(set(a.links) & set(b.links)) or (a.title == b.title and resemblance > 0.5) or resemblance > 0.85
