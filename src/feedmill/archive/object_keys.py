"""Object keys of images, raw bodies and feed descriptors. Other programs may rely on their form."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import md5, sha256
from urllib.parse import quote

IMAGES_PREFIX = "images/"
RAW_BODIES_PREFIX = "backups/"
# Not under backups/: a bucket's lifecycle rule for raw bodies must not delete these.
DESCRIPTORS_PREFIX = "feeds/"

_IMAGE = re.compile(r"images/([0-9]+)/([0-9a-f]{8})(?:-[0-9a-f]{32})?/([0-9]+)\.([a-z0-9]+)", re.ASCII)
_RAW_BODY = re.compile(
    r"backups/([0-9]+)/(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?)Z(?:-[0-9a-f]{16})?\.xml", re.ASCII
)
_DESCRIPTOR = re.compile(r"feeds/([0-9]+)\.json", re.ASCII)
_EXTENSION = re.compile(r"[a-z0-9]{1,8}", re.ASCII)


@dataclass(frozen=True, slots=True)
class ImageKey:
    """The parts of an image's key: the feed, the digest of the entry's guid, the index of the image in the entry."""

    feed_id: int
    mark: str
    index: int
    extension: str


@dataclass(frozen=True, slots=True)
class RawBodyKey:
    """The parts of a raw body's key: the feed, and when the body was fetched."""

    feed_id: int
    at: datetime


def image_key(feed_id: int, guid: str, index: int, extension: str) -> str:
    """The key of an entry's image.

    Two guids of a feed can share it (32 bits of a hash), so it must be reserved under a unique index before the
    object is written. If another entry has it, `full_image_key` is used.
    """
    return _image_key(feed_id, guid_digest(guid), index, extension)


def full_image_key(feed_id: int, guid: str, index: int, extension: str) -> str:
    """The key for an entry whose `image_key` belongs to another; no two guids share it.

    It depends on the guid alone, so that a new database finds the image again.
    """
    mark = f"{guid_digest(guid)}-{sha256(_bytes(guid)).hexdigest()[:32]}"
    return _image_key(feed_id, mark, index, extension)


def guid_digest(guid: str) -> str:
    """The first 8 digits of the guid's MD5, by which an entry's images are found."""
    return md5(_bytes(guid), usedforsecurity=False).hexdigest()[:8]


def public_image_url(base_url: str, key: str) -> str | None:
    """The URL of an archived image below the setting `images_base_url`; None without it, and for other objects."""
    return f"{base_url}/{quote(key)}" if base_url and key.startswith(IMAGES_PREFIX) else None


def parse_image_key(key: str) -> ImageKey | None:
    """Parses the key of an image; None for any other key."""
    match = _IMAGE.fullmatch(key)
    return match and ImageKey(int(match[1]), match[2], int(match[3]), match[4])


def raw_body_prefix(feed_id: int) -> str:
    return f"{RAW_BODIES_PREFIX}{feed_id}/"


def raw_body_key(feed_id: int, at: datetime) -> str:
    """The key of a raw body that was fetched at `at`; the keys of a feed sort by time."""
    if at.tzinfo is None:
        raise ValueError("a backup's time needs a time zone")
    time = at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds")
    return f"{raw_body_prefix(feed_id)}{time}Z.xml"


def pushed_body_key(feed_id: int, at: datetime, sha256: str) -> str:
    """The key of a raw body that a hub pushed at `at`: with a part of its digest, because several may come at once."""
    return f"{raw_body_key(feed_id, at).removesuffix('.xml')}-{sha256[:16]}.xml"


def parse_raw_body_key(key: str) -> RawBodyKey | None:
    """Parses the key of a raw body, with or without milliseconds; None for any other key."""
    match = _RAW_BODY.fullmatch(key)
    if match is None:
        return None
    try:
        return RawBodyKey(int(match[1]), datetime.fromisoformat(match[2]).replace(tzinfo=UTC))
    except ValueError:
        return None


def descriptor_key(feed_id: int) -> str:
    """The key of a feed's descriptor."""
    return f"{DESCRIPTORS_PREFIX}{feed_id}.json"


def parse_descriptor_key(key: str) -> int | None:
    """The feed id in the key of a descriptor; None for any other key."""
    match = _DESCRIPTOR.fullmatch(key)
    return int(match[1]) if match else None


def _image_key(feed_id: int, mark: str, index: int, extension: str) -> str:
    if not _EXTENSION.fullmatch(extension):
        raise ValueError(f"{extension!r} is no file extension")
    return f"{IMAGES_PREFIX}{feed_id}/{mark}/{index}.{extension}"


def _bytes(guid: str) -> bytes:
    return guid.encode("utf-8", "surrogatepass")
