"""Object keys of images, raw bodies and feed descriptors. Other programs may rely on their form."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import md5, sha256

IMAGES_PREFIX = "images/"
RAW_BODIES_PREFIX = "backups/"
# Not under backups/: a bucket's own rule that ends raw bodies must not end these.
DESCRIPTORS_PREFIX = "feeds/"

_IMAGE = re.compile(r"images/([0-9]+)/([0-9a-f]{8})(?:-[0-9a-f]{32})?/([0-9]+)\.([a-z0-9]+)", re.ASCII)
_BACKUP = re.compile(r"backups/([0-9]+)/(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?)Z\.xml", re.ASCII)
_CARD = re.compile(r"feeds/([0-9]+)\.json", re.ASCII)
_EXTENSION = re.compile(r"[a-z0-9]{1,8}", re.ASCII)


@dataclass(frozen=True, slots=True)
class ImageKey:
    """What an image's key tells: which feed, the mark of the entry's guid, which image of the entry."""

    feed_id: int
    mark: str
    index: int
    extension: str


@dataclass(frozen=True, slots=True)
class RawBodyKey:
    """What a raw body's key tells: which feed, and when the body arrived."""

    feed_id: int
    at: datetime


def image_key(feed_id: int, guid: str, index: int, extension: str) -> str:
    """The key of an entry's image.

    Two guids of a feed can share it (32 bits of a hash), so it must be reserved before it is written:
    recorded under a unique index. Who finds it taken by another entry takes `full_image_key`.
    """
    return _image_key(feed_id, guid_digest(guid), index, extension)


def full_image_key(feed_id: int, guid: str, index: int, extension: str) -> str:
    """The key for an entry whose `image_key` belongs to another; no two guids share it.

    It comes from the guid alone, so a database made anew finds the image again.
    """
    mark = f"{guid_digest(guid)}-{sha256(_bytes(guid)).hexdigest()[:32]}"
    return _image_key(feed_id, mark, index, extension)


def guid_digest(guid: str) -> str:
    """The first 8 digits of the guid's MD5, by which an entry's images are found."""
    return md5(_bytes(guid), usedforsecurity=False).hexdigest()[:8]


def parse_image_key(key: str) -> ImageKey | None:
    """Reads an image's key; None for a key that isn't one."""
    match = _IMAGE.fullmatch(key)
    return match and ImageKey(int(match[1]), match[2], int(match[3]), match[4])


def raw_body_prefix(feed_id: int) -> str:
    return f"{RAW_BODIES_PREFIX}{feed_id}/"


def raw_body_key(feed_id: int, at: datetime) -> str:
    """The key of a raw body that arrived at `at`; keys of a feed sort by time."""
    if at.tzinfo is None:
        raise ValueError("a backup's time needs a time zone")
    time = at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds")
    return f"{raw_body_prefix(feed_id)}{time}Z.xml"


def parse_raw_body_key(key: str) -> RawBodyKey | None:
    """Reads a raw body's key, with or without milliseconds; None for a key that isn't one."""
    match = _BACKUP.fullmatch(key)
    if match is None:
        return None
    try:
        return RawBodyKey(int(match[1]), datetime.fromisoformat(match[2]).replace(tzinfo=UTC))
    except ValueError:
        return None


def descriptor_key(feed_id: int) -> str:
    """The key of the card that says which feed a number stands for."""
    return f"{DESCRIPTORS_PREFIX}{feed_id}.json"


def parse_descriptor_key(key: str) -> int | None:
    """The feed that a card is of; None for a key that isn't a card's."""
    match = _CARD.fullmatch(key)
    return int(match[1]) if match else None


def _image_key(feed_id: int, mark: str, index: int, extension: str) -> str:
    if not _EXTENSION.fullmatch(extension):
        raise ValueError(f"{extension!r} is no file extension")
    return f"{IMAGES_PREFIX}{feed_id}/{mark}/{index}.{extension}"


def _bytes(guid: str) -> bytes:
    return guid.encode("utf-8", "surrogatepass")
