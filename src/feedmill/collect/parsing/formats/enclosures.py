"""Reads the enclosures of an entry from RSS, Atom, Media RSS and podcast elements."""

from datetime import timedelta
from xml.etree.ElementTree import Element

from msgspec.structs import replace

from feedmill.collect.parsing.formats.extensions import parse_duration
from feedmill.collect.parsing.formats.field_texts import element_text, first_text
from feedmill.collect.parsing.formats.fields import Fields
from feedmill.collect.parsing.formats.links import LinksByRelation, resolve_in
from feedmill.collect.parsing.formats.xml_scope import XmlScope
from feedmill.model.parsed_feed import Enclosure

_MAX_ENCLOSURES = 100
_PLAYED = ("audio", "video")


def enclosures(fields: Fields, found_media: Fields, related: LinksByRelation, scope: XmlScope) -> tuple[Enclosure, ...]:
    """Every file once, the feed's own enclosures first."""
    files = fields.get("enclosure")
    files += [link for link in related.get("enclosure", ()) if link.get("href")]
    files += [file for file in found_media.get("media:content") if file.get("url") and _is_played(file)]
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


def _is_played(file: Element) -> bool:
    return file.get("medium") in _PLAYED or file.get("type", "").startswith(_PLAYED)


def _set_duration(found: dict[str, Enclosure], duration: timedelta | None) -> None:
    """Give the podcast's duration to the first file that can be played."""
    if duration is None:
        return
    for url, enclosure in found.items():
        if enclosure.duration is None and (enclosure.type or "audio").startswith(_PLAYED):
            found[url] = replace(enclosure, duration=duration)
            return
