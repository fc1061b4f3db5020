"""Counts of times in ranges that grow by a tenth, so that percentiles of many processes can be added up."""

import math
from collections.abc import Iterable, Mapping

GROWTH = 1.1
SHORTEST = 0.1


class Lateness:
    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def add(self, seconds: float) -> None:
        place = str(0 if seconds <= SHORTEST else 1 + int(math.log(seconds / SHORTEST, GROWTH)))
        self.counts[place] = self.counts.get(place, 0) + 1


def sum_counts(many: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for counts in many:
        for place, count in counts.items():
            total[place] = total.get(place, 0) + count
    return total


def difference(later: Mapping[str, int], earlier: Mapping[str, int]) -> dict[str, int]:
    return {place: count - earlier.get(place, 0) for place, count in later.items()}


def percentile(counts: Mapping[str, int], share: float) -> float | None:
    """The upper end of the range in which that share is reached; None without any."""
    wanted = share * sum(counts.values())
    reached = 0
    for place, count in sorted(counts.items(), key=lambda item: int(item[0])):
        reached += count
        if count and reached >= wanted:
            return SHORTEST * GROWTH ** int(place)
    return None
