"""MinHash of a text: numbers by which texts with many groups of three words in common are found and compared.

One permutation instead of many: the hashes of the groups are sorted once, and the least of each of 32 equal ranges is
kept. That takes a tenth of the time of 32 hash functions, and estimates the share of common groups about as well.
"""

from bisect import bisect_left
from collections.abc import Sequence
from zlib import crc32

MINIMA = 32
# Of a shorter text the opening is nearly all.
BANDED_WORDS = 60
OPENING_WORDS = 40
_END = 1 << 32
_RANGES = [_END // MINIMA * number for number in range(MINIMA)]
_BAND = 1 << 47


class WordGroups:
    """The hashes of the overlapping groups of three words of a text, which has at least five words."""

    def __init__(self, words: Sequence[bytes]) -> None:
        self._words = words
        # CRC-32 of a text goes on from that of its beginning.
        self._hashes = list(map(crc32, words[2:], map(crc32, words[1:], map(crc32, words))))
        self._minima = _minima(self._hashes)

    def minima_bytes(self) -> bytes:
        """A byte of each minimum."""
        return bytes([value >> 8 & 0xFF for value in self._minima])

    def lookup_keys(self) -> list[int]:
        """Two or three numbers below 2^48; texts with much in common share one."""
        # The group of five words with the least hash of all at the beginning: the same after a small edit.
        first = self._words[:OPENING_WORDS]
        openings = list(map(crc32, first[4:], map(crc32, first[3:], self._hashes)))
        if len(self._words) < BANDED_WORDS:
            return [min(openings), max(openings)]
        bands = [_BAND | self._minima[at] << 15 ^ self._minima[at + 1] for at in (0, MINIMA // 2)]
        return [min(openings), *bands]


def _minima(hashes: Sequence[int]) -> list[int]:
    """The least hash of each range; an empty range takes that of the next one that has any."""
    ordered = sorted(hashes)
    # After the last range comes the first.
    ordered.append(ordered[0] + _END)
    return [ordered[bisect_left(ordered, start)] % _END for start in _RANGES]
