"""Parses `srcset` and chooses the image worth keeping."""

import re
from collections.abc import Iterator
from typing import NamedTuple

# A column of 800 pixels on a screen of double density; a larger image only costs the publisher traffic.
TARGET_WIDTH = 1600.0
TARGET_DENSITY = 2.0

# Pages offer some ten sizes of an image. Anything beyond these limits is ignored.
MAX_CANDIDATES = 100
MAX_LENGTH = 100_000

_SPACE = r"\t\n\f\r "
# A comma ends a candidate only after white space or at the end of a URL: URLs may contain commas.
_SEPARATORS = re.compile(rf"[{_SPACE},]*+")
_CANDIDATE = re.compile(rf"([^{_SPACE},][^{_SPACE}]*+)(?:(?<!,)([^,]*+))?")
_SIZE = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6})?)([wx])(?:\s|$)")


class SrcsetCandidate(NamedTuple):
    """One image of a `srcset`; a `size` of 1.0 is just large enough."""

    address: str
    descriptor: str
    size: float


def parse_srcset(srcset: str) -> list[SrcsetCandidate]:
    """Returns the candidates of a `srcset`, in order, up to the limits above."""
    return [_candidate(*match.groups(default="")) for match in _matches(srcset)]


def best_candidate(candidates: list[SrcsetCandidate]) -> SrcsetCandidate | None:
    """Chooses the smallest candidate that is large enough, else the largest; None when there is none."""
    large_enough = [candidate for candidate in candidates if candidate.size >= 1]
    if large_enough:
        return min(large_enough, key=lambda candidate: candidate.size)
    return max(candidates, key=lambda candidate: candidate.size, default=None)


def _matches(srcset: str) -> Iterator[re.Match[str]]:
    """Matches one candidate after another. Not `finditer`: where none follows, it would try at each separator."""
    position = 0
    for _ in range(MAX_CANDIDATES):
        separators = _SEPARATORS.match(srcset, position)
        match = _CANDIDATE.match(srcset, separators.end() if separators else position)
        if match is None or match.end() > MAX_LENGTH:  # not a truncated URL
            return
        yield match
        position = match.end()


def _candidate(address: str, descriptor: str) -> SrcsetCandidate:
    size = _SIZE.search(descriptor)
    if size is None:
        return SrcsetCandidate(address.rstrip(","), "", 1 / TARGET_DENSITY)
    target = TARGET_WIDTH if size[2] == "w" else TARGET_DENSITY
    return SrcsetCandidate(address.rstrip(","), size[0].strip(), float(size[1]) / target)
