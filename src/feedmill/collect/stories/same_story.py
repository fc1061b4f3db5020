"""Finds which of the candidates for an entry are the same article. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence

from feedmill.collect.stories.evidence import Evidence, find_evidence
from feedmill.collect.stories.sketch import decode_sketch
from feedmill.model.stories.signature import STORY_WINDOW, StoryEntry

# So many entries of one feed can't all be the same article: their link leads to a list, their text is a template.
_TOO_MANY = {Evidence.LINK: 3, Evidence.TEXT: 2}


def find_same_story(entry: StoryEntry, candidates: Sequence[StoryEntry]) -> list[StoryEntry]:
    """Those of the candidates that are the same article as the entry, the surest first, then the earliest."""
    found = [(evidence, candidate) for candidate in candidates if (evidence := _evidence(entry, candidate))]
    misleading = _misleading_evidence(found)
    kept = [pair for pair in found if pair[0] not in misleading]
    return [candidate for _, candidate in sorted(kept, key=lambda pair: (-pair[0], pair[1].at))]


def is_same_story(one: StoryEntry, other: StoryEntry) -> bool:
    """Whether two entries are the same article; symmetric."""
    return bool(find_same_story(one, [other]))


def _evidence(one: StoryEntry, other: StoryEntry) -> Evidence | None:
    gap = abs(one.at - other.at)
    if gap > STORY_WINDOW:
        return None
    sketch, other_sketch = decode_sketch(one.sketch), decode_sketch(other.sketch)
    if sketch is None or other_sketch is None:
        return None
    return find_evidence(sketch, other_sketch, gap, same_feed=one.feed_id == other.feed_id)


def _misleading_evidence(found: Iterable[tuple[Evidence, StoryEntry]]) -> set[Evidence]:
    """The kinds of evidence that too many entries of one feed have."""
    times = Counter((evidence, candidate.feed_id) for evidence, candidate in found)
    return {evidence for (evidence, _), count in times.items() if count >= _TOO_MANY.get(evidence, count + 1)}
