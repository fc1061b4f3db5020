"""Computes the signature of an entry: the keys to look up entries that may be the same article, and the sketch.

The text is read as overlapping groups of three words. One-permutation MinHash: the hashes of the groups are sorted
once, and the least of each of 32 equal ranges is kept, which takes a tenth of the time of 32 hash functions.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from itertools import chain
from typing import Protocol
from zlib import crc32

from feedmill.collect.stories.article_links import LinkedEntry, article_links
from feedmill.collect.stories.entry_words import WrittenEntry, text_words, title_words
from feedmill.collect.stories.sketch import Sketch, encode_sketch
from feedmill.model.hosts import host_of
from feedmill.model.stories.signature import StorySignature

MINIMA = 32
LEAD_WORDS = 48
# A shorter title finds too much: "News", "Open thread".
_MIN_TITLE_LENGTH = 12
_MIN_TEXT_WORDS = 8
_LEAD_KEY_WORDS = 8
_BANDS = 4
_BAND_ROWS = 2
_RANGES = [(number << 32) // MINIMA for number in range(MINIMA)]
_DIGIT = 0x8000
_KEY_MASK = (1 << 53) - 1


class SignableEntry(LinkedEntry, WrittenEntry, Protocol):
    """An entry that can be signed; `NewEntry` and `ParsedEntry` are."""


def sign_entries(entries: Sequence[SignableEntry]) -> list[StorySignature]:
    """The signatures of the entries of one document, in their order. A link that several of them share says nothing."""
    links = [article_links(entry) for entry in entries]
    times = Counter(chain.from_iterable(links))
    return [_sign(entry, [link for link in own if times[link] == 1]) for entry, own in zip(entries, links, strict=True)]


def sign_entry(entry: SignableEntry) -> StorySignature:
    """The signature of one entry, whose document is not at hand."""
    return _sign(entry, article_links(entry))


def _sign(entry: SignableEntry, links: Sequence[str]) -> StorySignature:
    title = [word.encode() for word in title_words(entry)]
    text = [word.encode() for word in text_words(entry)]
    joined_title = b" ".join(title)
    minima = _minima(text) if len(text) >= _MIN_TEXT_WORDS else []
    link_hashes = [_hash64(b"link", link.encode("utf-8", "replace")) & (1 << 48) - 1 for link in links]
    sketch = Sketch(
        links=tuple(link_hashes),
        host=crc32(host_of(entry.link).removeprefix("www.").encode()) if entry.link else 0,
        title=tuple(crc32(word) & 0x7FFF | (_DIGIT if _has_digit(word) else 0) for word in title),
        title_length=min(len(joined_title), 255),
        text_count=len(text),
        lead=bytes(crc32(word) & 0xFF for word in text[:LEAD_WORDS]),
        minima=bytes(value >> 8 & 0xFF for value in minima),
    )
    keys = [*link_hashes]
    if len(joined_title) >= _MIN_TITLE_LENGTH:
        keys.append(_hash64(b"title", joined_title) & _KEY_MASK)
    if minima:
        keys.append(_hash64(b"lead", b" ".join(text[:_LEAD_KEY_WORDS])) & _KEY_MASK)
        keys += _band_keys(minima)
    return StorySignature(tuple(dict.fromkeys(keys)), encode_sketch(sketch))


def _minima(words: Sequence[bytes]) -> list[int]:
    """The least hash of each range; an empty range takes that of the next one that has any."""
    groups = map(crc32, words[2:], map(crc32, words[1:], map(crc32, words)))
    hashes = sorted(set(groups))
    hashes.append(hashes[0])
    return [hashes[bisect_left(hashes, start, 0, len(hashes) - 1)] for start in _RANGES]


def _band_keys(minima: Sequence[int]) -> list[int]:
    step = MINIMA // _BANDS
    return [
        _hash64(b"band", repr(minima[start : start + _BAND_ROWS]).encode()) & _KEY_MASK
        for start in range(0, MINIMA, step)
    ]


def _hash64(kind: bytes, value: bytes) -> int:
    return int.from_bytes(blake2b(value, digest_size=8, person=kind).digest())


def _has_digit(word: bytes) -> bool:
    return any(48 <= byte <= 57 for byte in word)
