"""Reads the enclosures of an entry from RSS, Atom, Media RSS and podcast elements."""

from datetime import timedelta
from xml.etree.ElementTree import Element

from msgspec.structs import replace

from feedmill.collect.parsing.formats.child_elements import Fields
from feedmill.collect.parsing.formats.extensions import parse_duration
from feedmill.collect.parsing.formats.field_texts import element_text, first_text
from feedmill.collect.parsing.formats.links import LinksByRelation, resolve_in
from feedmill.collect.parsing.formats.xml_scope import XmlScope
from feedmill.model.parsed_feed import Enclosure

_MAX_ENCLOSURES = 100
_PLAYABLE = ("audio", "video")


def enclosures(fields: Fields, media: Fields, related: LinksByRelation, scope: XmlScope) -> tuple[Enclosure, ...]:
    """The enclosures of an entry, each URL once: first those of RSS and Atom, then those of Media RSS."""
    files = fields.get("enclosure")
    files += [link for link in related.get("enclosure", ()) if link.get("href")]
    files += [file for file in media.get("media:content") if file.get("url") and _is_playable(file)]
    found: dict[str, Enclosure] = {}
    for file in files[:_MAX_ENCLOSURES]:
        address = file.get("url") or file.get("href") or element_text(file)
        if address:
            enclosure = _enclosure(file, address, scope)
            found.setdefault(enclosure.url, enclosure)
    if "itunes:duration" in fields.layout.places:
        _set_duration(found, parse_duration(first_text(fields, "itunes:duration")))
    return tuple(found.values())


def _enclosure(file: Element, address: str, scope: XmlScope) -> Enclosure:
    return Enclosure(
        resolve_in(file, address, scope),
        file.get("type") or None,
        _length(file.get("length") or file.get("fileSize")),
        parse_duration(file.get("duration")),
    )


def _length(text: str | None) -> int | None:
    if not text:
        return None
    if not text.isdecimal():
        text = text.strip().replace(",", "")
    return int(text) if text.isdecimal() and len(text) < 16 else None


def _is_playable(file: Element) -> bool:
    return file.get("medium") in _PLAYABLE or file.get("type", "").startswith(_PLAYABLE)


def _set_duration(found: dict[str, Enclosure], duration: timedelta | None) -> None:
    """Sets the podcast's duration on the first audio or video file without one."""
    if duration is None:
        return
    for url, enclosure in found.items():
        if enclosure.duration is None and (enclosure.type or "audio").startswith(_PLAYABLE):
            found[url] = replace(enclosure, duration=duration)
            return
