"""The files that an entry carries, from RSS, Atom, Media RSS and podcast elements."""

from datetime import timedelta

from msgspec.structs import replace

from feedmill.collect.fields import Fields
from feedmill.collect.formats.extensions import parse_duration
from feedmill.collect.formats.links import Related
from feedmill.collect.formats.scope import Scope
from feedmill.collect.xml_tree import Attributes
from feedmill.model.parsed import Enclosure

_MAX_ENCLOSURES = 100
_PLAYED = ("audio", "video")


def enclosures(fields: Fields, found_media: Fields, related: Related, scope: Scope) -> tuple[Enclosure, ...]:
    """Every file once, the feed's own enclosures first."""
    found: dict[str, Enclosure] = {}
    for attributes, text, _ in fields.get("enclosure") if "enclosure" in fields.rich else ():
        _add(found, attributes.get("url") or attributes.get("href") or text, attributes, "length", scope)
    for attributes in related.get("enclosure", ()):
        _add(found, attributes["href"], attributes, "length", scope)
    for attributes, _, _ in found_media.rich.get("media:content", ()):
        if _is_played(attributes):
            _add(found, attributes.get("url"), attributes, "fileSize", scope)
    if "itunes:duration" in fields.plain:
        _set_duration(found, parse_duration(fields.plain["itunes:duration"]))
    return tuple(found.values())


def _add(found: dict[str, Enclosure], address: str | None, attributes: Attributes, size: str, scope: Scope) -> None:
    if address and len(found) < _MAX_ENCLOSURES:
        enclosure = _enclosure(address, attributes, size, scope)
        found.setdefault(enclosure.url, enclosure)


def _enclosure(address: str, attributes: Attributes, size: str, scope: Scope) -> Enclosure:
    return Enclosure(
        scope.inside(attributes).resolve(address),
        attributes.get("type") or None,
        _length(attributes.get(size)),
        parse_duration(attributes.get("duration")),
    )


def _length(text: str | None) -> int | None:
    if not text:
        return None
    if not text.isdecimal():
        text = text.strip().replace(",", "")
    return int(text) if text.isdecimal() and len(text) < 16 else None


def _is_played(attributes: Attributes) -> bool:
    return attributes.get("medium") in _PLAYED or attributes.get("type", "").startswith(_PLAYED)


def _set_duration(found: dict[str, Enclosure], duration: timedelta | None) -> None:
    """Give the podcast's duration to the first file that can be played."""
    for url, enclosure in found.items():
        if enclosure.duration is None and (enclosure.type or "audio").startswith(_PLAYED):
            found[url] = replace(enclosure, duration=duration)
            return
