"""A sketch of an entry: a hundred bytes, as ASCII, by which two entries are compared without their texts."""

import binascii
from dataclasses import dataclass
from struct import Struct, error, pack, unpack_from

SKETCH_VERSION = 1
_HEAD = Struct(">BBIBBH")
_LINK_BYTES = 6


@dataclass(frozen=True, slots=True)
class Sketch:
    """What is known of an entry when it is compared.

    `links` and `host` are hashes; a host of 0 is none. `title` has a hash for each word, the highest bit set for a
    word with a digit, and `title_length` the characters of these words. `text_count` is the number of words of the
    text that were read, `lead` a byte for each of the first, `minima` the MinHash values of all.
    """

    links: tuple[int, ...]
    host: int
    title: tuple[int, ...]
    title_length: int
    text_count: int
    lead: bytes
    minima: bytes


def encode_sketch(sketch: Sketch) -> str:
    """The sketch as ASCII."""
    head = _HEAD.pack(
        SKETCH_VERSION, len(sketch.links), sketch.host, len(sketch.title), sketch.title_length, sketch.text_count
    )
    links = b"".join(link.to_bytes(_LINK_BYTES) for link in sketch.links)
    title = pack(f">{len(sketch.title)}H", *sketch.title)
    lead = bytes([len(sketch.lead)]) + sketch.lead
    return binascii.b2a_base64(head + links + title + lead + sketch.minima, newline=False).decode()


def decode_sketch(encoded: str) -> Sketch | None:
    """The sketch; None for one of another version, or that is damaged."""
    try:
        data = binascii.a2b_base64(encoded, strict_mode=True)
        version, link_count, host, title_count, title_length, text_count = _HEAD.unpack_from(data)
        if version != SKETCH_VERSION:
            return None
        titles_at = _HEAD.size + link_count * _LINK_BYTES
        links = tuple(
            int.from_bytes(data[start : start + _LINK_BYTES]) for start in range(_HEAD.size, titles_at, _LINK_BYTES)
        )
        title = unpack_from(f">{title_count}H", data, titles_at)
        lead_at = titles_at + title_count * 2 + 1
        lead_end = lead_at + data[lead_at - 1]
    except (ValueError, error, IndexError):
        return None
    return Sketch(links, host, title, title_length, text_count, data[lead_at:lead_end], data[lead_end:])
