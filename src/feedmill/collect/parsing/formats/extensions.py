"""Reads elements of namespace extensions: Media RSS, pictures, durations of podcasts."""

import re
from collections.abc import Iterable
from datetime import timedelta
from xml.etree.ElementTree import Element

from feedmill.collect.parsing.formats.child_elements import Fields, fields_of
from feedmill.collect.parsing.formats.field_texts import first_text
from feedmill.collect.parsing.formats.xml_scope import XmlScope

_MAX_GROUPS = 3
_ENDING = re.compile(r"\.(\w{2,4})(?:[?#]|$)")
_LONGEST_ADDRESS = 2_000
_KINDS = {
    **dict.fromkeys(("jpg", "jpeg", "png", "gif", "webp", "avif"), "image"),
    **dict.fromkeys(("mp3", "m4a", "ogg", "oga", "opus", "aac", "flac", "wav"), "audio"),
    **dict.fromkeys(("mp4", "m4v", "webm", "mov", "ogv"), "video"),
}
_SHORTEST_DURATION = timedelta(seconds=0.5)


def media_elements(fields: Fields) -> Fields:
    """The Media RSS elements of an entry, including those inside of groups."""
    outer = [fields.elements[place] for place in fields.layout.plan.media]
    return fields_of(_ungrouped(outer, 0) if any(map(len, outer)) else outer, fields.layout.layouts)


def _ungrouped(elements: Iterable[Element], depth: int) -> list[Element]:
    found = []
    for element in elements:
        found.append(element)
        if len(element) and depth < _MAX_GROUPS:
            found += _ungrouped(element, depth + 1)
    return found


def picture_url(fields: Fields, scope: XmlScope, *names: str) -> str | None:
    """The URL of the first of these elements that has one as `href`, `url`, child element or text."""
    places = fields.layout.places
    for name in names:
        for place in places.get(name, ()):
            address = _picture_address(fields, place)
            if address and "<" not in address:
                return scope.resolve(address)
    return None


def _picture_address(fields: Fields, place: int) -> str | None:
    element = fields.elements[place]
    address = element.get("href") or element.get("url") or fields.texts[place] or _attribute_address(element)
    return first_text(fields.inside(element), "url") if not address and len(element) else address


def _attribute_address(element: Element) -> str:
    """The address of a cover (webfeeds), or the first of several sizes (podcast:images)."""
    sizes = element.get("srcset", "").split(None, 1)
    return element.get("image") or (sizes[0].rstrip(",") if sizes else "")


def media_picture_url(media: Fields, scope: XmlScope) -> str | None:
    """The URL of a Media RSS thumbnail, or of a media file that is an image."""
    thumbnail = picture_url(media, scope, "media:thumbnail")
    if thumbnail:
        return thumbnail
    files = [file.get("url") for file in media.get("media:content") if media_kind(file) == "image"]
    return next((scope.resolve(url) for url in files if url), None)


def media_kind(file: Element) -> str:
    """What a Media RSS file is (image, audio, video): as it says, else by the ending of its address."""
    kind = file.get("medium") or file.get("type")
    if kind:
        return kind.partition("/")[0]
    ending = _ENDING.search(file.get("url", "")[:_LONGEST_ADDRESS])
    return _KINDS.get(ending[1].lower(), "") if ending else ""


def parse_duration(text: str | None) -> timedelta | None:
    """Parses a duration of podcasts: `seconds`, `minutes:seconds` or `hours:minutes:seconds`."""
    offset = parse_offset(text)
    return timedelta(seconds=round(offset.total_seconds())) if offset and offset >= _SHORTEST_DURATION else None


def parse_offset(text: str | None) -> timedelta | None:
    """Parses a time within a file, of the same forms; it may be zero and have a fraction."""
    if not text:
        return None
    parts, seconds = text.strip().split(":", 3), 0.0
    try:
        for part in parts:
            seconds = seconds * 60 + float(part or 0)
        return timedelta(milliseconds=round(seconds * 1000)) if len(parts) <= 3 and seconds >= 0 else None
    except (ValueError, OverflowError):
        return None
