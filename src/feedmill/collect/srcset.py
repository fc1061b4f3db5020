"""Reads `srcset`: which images are offered, and which of them is worth keeping."""

import re
from typing import NamedTuple

# A column of 800 pixels on a screen of double density; what is larger only costs the publisher traffic.
ENOUGH_WIDTH = 1600.0
ENOUGH_DENSITY = 2.0

_SPACE = r"\t\n\f\r "
# A comma ends a candidate only after white space or at the end of an address: addresses may hold commas.
_CANDIDATE = re.compile(rf"[{_SPACE},]*+([^{_SPACE},][^{_SPACE}]*+)(?:(?<!,)([^,]*+))?")
_SIZE = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6})?)([wx])(?:\s|$)")


class Candidate(NamedTuple):
    """One image of a `srcset`; `size` is 1.0 when it is just large enough for any reader."""

    address: str
    descriptor: str
    size: float


def candidates(srcset: str) -> list[Candidate]:
    """Returns what a `srcset` offers, in order."""
    return [_candidate(*match.groups(default="")) for match in _CANDIDATE.finditer(srcset)]


def wanted(offered: list[Candidate]) -> Candidate | None:
    """Chooses the smallest candidate that is large enough, else the largest; None when there is none."""
    large_enough = [candidate for candidate in offered if candidate.size >= 1]
    if large_enough:
        return min(large_enough, key=lambda candidate: candidate.size)
    return max(offered, key=lambda candidate: candidate.size, default=None)


def _candidate(address: str, descriptor: str) -> Candidate:
    size = _SIZE.search(descriptor)
    if size is None:
        return Candidate(address.rstrip(","), "", 1 / ENOUGH_DENSITY)
    enough = ENOUGH_WIDTH if size[2] == "w" else ENOUGH_DENSITY
    return Candidate(address.rstrip(","), size[0].strip(), float(size[1]) / enough)
