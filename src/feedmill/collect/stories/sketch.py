"""A sketch of an entry: a hundred bytes, as ASCII, by which two entries are compared without their texts."""

from binascii import a2b_base64, b2a_base64
from dataclasses import dataclass
from struct import Struct, error, pack, unpack_from
from zlib import crc32

SKETCH_VERSION = 1
DIGIT_BIT = 0x8000
_HEAD = Struct(">BBBBBBBH")
_HASH_BYTES = 6
_DIGITS = frozenset(b"0123456789")


@dataclass(frozen=True, slots=True)
class Sketch:
    """What is known of an entry when it is compared.

    `links` are hashes of the links that name its article, `host` is that of its own one, 0 if there is none. `title`
    has the `hash_word` of each word, and `title_length` their characters. `title_only`: there is no other text, and the
    words of the title stand for it. `has_media`: it has an audio or video file. `text_count` is the number of words of
    the text that were read, `topic` the percentage of the longer words of the title that are among the first. `lead`
    has the `hash_word` of the first words, `minima` is the MinHash of all.
    """

    links: tuple[int, ...]
    host: int
    title: tuple[int, ...]
    title_length: int
    title_only: bool
    has_media: bool
    text_count: int
    topic: int
    lead: tuple[int, ...]
    minima: bytes


def hash_word(word: bytes) -> int:
    """16 bits; the highest one is set for a word with a digit. A letter alone says nothing: "U.S." is "US"."""
    if _DIGITS.isdisjoint(word):
        return crc32(word) & 0x7FFF if len(word) > 1 else 0
    return crc32(word) & 0x7FFF | DIGIT_BIT


def encode_sketch(sketch: Sketch) -> str:
    """The sketch as ASCII."""
    head = _HEAD.pack(
        SKETCH_VERSION,
        len(sketch.links),
        len(sketch.title),
        len(sketch.lead),
        sketch.title_length,
        sketch.title_only | sketch.has_media << 1,
        sketch.topic,
        sketch.text_count,
    )
    hashes = b"".join([value.to_bytes(_HASH_BYTES) for value in (sketch.host, *sketch.links)])
    words = pack(f">{len(sketch.title) + len(sketch.lead)}H", *sketch.title, *sketch.lead)
    return b2a_base64(head + hashes + words + sketch.minima, newline=False).decode()


def decode_sketch(encoded: str) -> Sketch | None:
    """The sketch; None for one of another version, or that is damaged."""
    try:
        data = a2b_base64(encoded, strict_mode=True)
        version, link_count, title_count, lead_count, title_length, flags, topic, text_count = _HEAD.unpack_from(data)
        words_at = _HEAD.size + (1 + link_count) * _HASH_BYTES
        words = unpack_from(f">{title_count + lead_count}H", data, words_at)
    except (ValueError, error):
        return None
    if version != SKETCH_VERSION:
        return None
    hashes = [int.from_bytes(data[at : at + _HASH_BYTES]) for at in range(_HEAD.size, words_at, _HASH_BYTES)]
    return Sketch(
        links=tuple(hashes[1:]),
        host=hashes[0],
        title=words[:title_count],
        title_length=title_length,
        title_only=bool(flags & 1),
        has_media=bool(flags & 2),
        text_count=text_count,
        topic=topic,
        lead=words[title_count:],
        minima=data[words_at + len(words) * 2 :],
    )
