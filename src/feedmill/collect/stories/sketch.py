"""A sketch of an entry: some 170 bytes, as ASCII, by which two entries are compared without their texts."""

from binascii import a2b_base64, b2a_base64
from dataclasses import dataclass
from struct import Struct, error, pack, unpack_from
from zlib import crc32

SKETCH_VERSION = 1
DIGIT_BIT = 0x8000
# The kind of a key is above its 48 bits.
LINK_KEY, TITLE_KEY, TEXT_KEY = (kind << 48 for kind in (1, 2, 3))
_HEAD = Struct(">BBBBBBBHQ")
_DIGITS = frozenset(b"0123456789")


@dataclass(frozen=True, slots=True)
class Sketch:
    """What is known of an entry when it is compared.

    `keys` are those of its signature, `host` is the hash of the host of its own link, 0 if there is none. `title` has
    the `hash_word` of each word, and `title_length` their characters. `title_only`: there is no other text, and the
    words of the title stand for it. `has_media`: it has an audio or video file. `text_count` is the number of words of
    the text that were read, `topic` the percentage of the longer words of the title that are among the first. `lead`
    has the `hash_word` of the first words, `minima` is the MinHash of all.
    """

    keys: tuple[int, ...]
    host: int
    title: tuple[int, ...]
    title_length: int
    title_only: bool
    has_media: bool
    text_count: int
    topic: int
    lead: tuple[int, ...]
    minima: bytes

    @property
    def links(self) -> set[int]:
        """The keys of the links that name its article."""
        return {key for key in self.keys if key < TITLE_KEY}


def hash_word(word: bytes) -> int:
    """16 bits; the highest one is set for a word with a digit. A letter alone says nothing: "U.S." is "US"."""
    if word.isalpha() or (not word.isalnum() and _DIGITS.isdisjoint(word)):
        return crc32(word) & 0x7FFF if len(word) > 1 else 0
    return crc32(word) & 0x7FFF | DIGIT_BIT


def encode_sketch(sketch: Sketch) -> str:
    """The sketch as ASCII."""
    keys, title, lead = sketch.keys, sketch.title, sketch.lead
    head = _HEAD.pack(
        SKETCH_VERSION,
        len(keys),
        len(title),
        len(lead),
        sketch.title_length,
        sketch.title_only | sketch.has_media << 1,
        sketch.topic,
        sketch.text_count,
        sketch.host,
    )
    hashes = pack(f">{len(keys)}Q{len(title) + len(lead)}H", *keys, *title, *lead)
    return b2a_base64(head + hashes + sketch.minima, newline=False).decode()


def decode_sketch(encoded: str) -> Sketch | None:
    """The sketch; None for one of another version, or that is damaged."""
    try:
        data = a2b_base64(encoded, strict_mode=True)
        version, keys, title, lead, title_length, flags, topic, text_count, host = _HEAD.unpack_from(data)
        hashes = unpack_from(f">{keys}Q{title + lead}H", data, _HEAD.size)
    except (ValueError, error):
        return None
    if version != SKETCH_VERSION:
        return None
    return Sketch(
        keys=hashes[:keys],
        host=host,
        title=hashes[keys : keys + title],
        title_length=title_length,
        title_only=bool(flags & 1),
        has_media=bool(flags & 2),
        text_count=text_count,
        topic=topic,
        lead=hashes[keys + title :],
        minima=data[_HEAD.size + keys * 8 + (title + lead) * 2 :],
    )


def keys_of_sketch(encoded: str) -> tuple[int, ...]:
    """The keys of the entry; none if the sketch is of another version, or damaged."""
    sketch = decode_sketch(encoded)
    return sketch.keys if sketch else ()
