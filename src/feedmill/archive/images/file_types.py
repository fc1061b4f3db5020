"""Detects the type of an image from its bytes.

The type that a server or a URL claims is ignored. SVG is not in the table: it may contain scripts, which a public
bucket would let run. SVG images keep their original URL.
"""

import re

from feedmill.model.image import ImageType

PNG = ImageType("png", "image/png")
JPEG = ImageType("jpg", "image/jpeg")
GIF = ImageType("gif", "image/gif")
WEBP = ImageType("webp", "image/webp")
AVIF = ImageType("avif", "image/avif")
HEIC = ImageType("heic", "image/heic")
BMP = ImageType("bmp", "image/bmp")
ICO = ImageType("ico", "image/x-icon")

TYPE_BY_EXTENSION = {type.extension: type for type in (PNG, JPEG, GIF, WEBP, AVIF, HEIC, BMP, ICO)}

# The dots match the length of the file or of a part of it.
_SIGNATURES = (
    (re.compile(rb"\x89PNG\r\n\x1a\n.{4}(?:IHDR|CgBI)", re.S), PNG),
    (re.compile(rb"\xff\xd8\xff[\xc0-\xfe]", re.S), JPEG),
    (re.compile(rb"GIF8[79]a", re.S), GIF),
    (re.compile(rb"RIFF.{4}WEBPVP8[ LX]", re.S), WEBP),
    (re.compile(rb"BM.{12}[\x0c\x28\x34\x38\x40\x6c\x7c]\x00\x00\x00", re.S), BMP),
    (re.compile(rb"\x00\x00\x01\x00[\x01-\xff]\x00.{3}\x00[\x00\x01]\x00", re.S), ICO),
)
_BRANDS = re.compile(rb".{4}ftyp(.{4})", re.S)
_AVIF = frozenset({b"avif", b"avis"})
_HEIC = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx"})
# More brands than any camera writes; a larger box is not read further.
_MAX_BRANDS = 32

_SVG = re.compile(rb"<svg[\s>/]|<!doctype\s+svg", re.I)
_MARKUP = re.compile(rb"(?:\xef\xbb\xbf)?\s*<[!?a-z]", re.I)
_HEAD = 4096


def detect_image_type(data: bytes) -> ImageType | None:
    """The type of an image; None if it is not one of the stored types."""
    for signature, type in _SIGNATURES:
        if signature.match(data):
            return type
    return _type_by_brands(data)


def describe_non_image(data: bytes) -> str:
    """Names what data that is not an image of a stored type seems to be: empty, unknown, svg or web_page."""
    if not data:
        return "empty"
    if not _MARKUP.match(data):
        return "unknown"
    return "svg" if is_svg(data) else "web_page"


def is_svg(data: bytes) -> bool:
    return bool(_MARKUP.match(data) and _SVG.search(data, 0, _HEAD))


def _type_by_brands(data: bytes) -> ImageType | None:
    """Detects AVIF and HEIC, which share a container: its first box lists the compatible brands."""
    head = _BRANDS.match(data)
    if head is None:
        return None
    end = min(int.from_bytes(data[:4]), 16 + 4 * _MAX_BRANDS)
    brands = {head[1], *(data[offset : offset + 4] for offset in range(16, end, 4))}
    if brands & _AVIF:
        return AVIF
    return HEIC if brands & _HEIC else None
