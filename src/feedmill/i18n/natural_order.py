"""The natural order of names: "Part 2" stands before "Part 10"."""

import re
from functools import lru_cache

# Names that begin alike for longer than this are equal.
LONGEST = 200
_NUMBER = re.compile(r"([0-9]+)")

NaturalKey = tuple[str | tuple[int, str], ...]


@lru_cache(maxsize=8192)
def natural_key(name: str) -> NaturalKey:
    """The sort key of a name: letters without regard to case, digits by the number that they write."""
    parts = _NUMBER.split(name[:LONGEST].casefold())
    # Every second part is a number.
    return tuple(_number(part) if place % 2 else part for place, part in enumerate(parts))


def _number(digits: str) -> tuple[int, str]:
    """Compares as the number does, however long it is."""
    significant = digits.lstrip("0")
    return len(significant), significant
