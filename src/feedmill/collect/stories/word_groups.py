"""MinHash of a text: numbers by which texts with many groups of three words in common are found and compared.

One permutation instead of many: the hashes of the groups are sorted once, and the least of each of 32 equal ranges is
kept. That takes a tenth of the time of 32 hash functions, and estimates the share of common groups about as well.
"""

from bisect import bisect_left
from collections.abc import Sequence
from struct import pack, unpack

from feedmill.collect.stories.entry_words import MAX_TEXT_WORDS

MINIMA = 32
# Of a shorter text the opening is nearly all.
LONG_TEXT_WORDS = 60
OPENING_WORDS = 40
# Hashes have 30 bits: Python compares and sorts such integers fastest.
_END = 1 << 30
_RANGES = [_END // MINIMA * number for number in range(MINIMA)]
# Odd numbers below 2^30, so that the sum of three products with 32 bits fits into 64.
_FACTORS = (0x2545F491, 0x1B873593, 0x27D4EB2F)
_LOW_BITS = sum((_END - 1) << 64 * number for number in range(MAX_TEXT_WORDS))


class WordGroups:
    """The hashes of the overlapping groups of three words of a text of at least five, given the CRC-32 of each."""

    def __init__(self, words: Sequence[int]) -> None:
        self._hashes = _hash_groups(words)
        self._minima = _minima(self._hashes)

    def minima_bytes(self) -> bytes:
        """A byte of each minimum."""
        return bytes([value >> 8 & 0xFF for value in self._minima])

    def lookup_keys(self) -> list[int]:
        """One or two numbers below 2^48; texts with much in common share one.

        They are groups of five words: the one with the least hash at the beginning, and that of the whole text. Both
        stay the same after a small edit.
        """
        opening = self._hashes[: OPENING_WORDS - 2]
        least = self._five_words(opening.index(min(opening)))
        if len(self._hashes) + 2 < LONG_TEXT_WORDS:
            return [least, self._five_words(opening.index(max(opening)))]
        return [least, self._five_words(self._hashes.index(self._minima[0]))]

    def _five_words(self, at: int) -> int:
        """The hash of the five words that begin there, or end with the text."""
        at = min(at, len(self._hashes) - 3)
        return self._hashes[at] << 18 ^ self._hashes[at + 2]


def _hash_groups(words: Sequence[int]) -> tuple[int, ...]:
    """The hash of each group: the sum of its words, each with the factor of its place.

    All at once: one integer has 64 bits for each word. Multiplied by each factor, shifted by as many words and added
    up, it has the sums of all groups. That takes half the time of computing them one by one.
    """
    first, second, third = _FACTORS
    joined = int.from_bytes(pack(f"<{len(words)}Q", *words), "little")
    sums = joined * first + (joined >> 64) * second + (joined >> 128) * third
    hashes = (sums & _LOW_BITS).to_bytes(8 * len(words), "little")
    # The last two words begin no group.
    return unpack(f"<{len(words)}Q", hashes)[:-2]


def _minima(hashes: Sequence[int]) -> list[int]:
    """The least hash of each range; an empty range takes that of the next one that has any."""
    ordered = sorted(hashes)
    # After the last range comes the first.
    ordered.append(ordered[0] + _END)
    return [ordered[bisect_left(ordered, start)] % _END for start in _RANGES]
