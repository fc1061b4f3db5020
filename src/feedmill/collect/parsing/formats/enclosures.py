"""Reads the enclosures of an entry from RSS, Atom, Media RSS and podcast elements."""

from datetime import timedelta
from typing import Any
from xml.etree.ElementTree import Element

from msgspec.structs import replace

from feedmill.collect.parsing.formats.child_elements import Fields
from feedmill.collect.parsing.formats.extensions import media_kind, parse_duration, parse_offset
from feedmill.collect.parsing.formats.field_texts import element_text, first_text
from feedmill.collect.parsing.formats.links import LinksByRelation, resolve_in
from feedmill.collect.parsing.formats.xml_scope import XmlScope
from feedmill.model.parsed_feed import Chapter, Enclosure

_MAX_ENCLOSURES = 100
_MAX_CHAPTERS = 300
_LONGEST_TITLE = 300
_PLAYABLE = ("audio", "video")


def enclosures(fields: Fields, media: Fields, related: LinksByRelation, scope: XmlScope) -> tuple[Enclosure, ...]:
    """The enclosures of an entry, each URL once: first those of RSS and Atom, then those of Media RSS."""
    files = fields.get("enclosure")
    files += [link for link in related.get("enclosure", ()) if link.get("href")]
    files += [file for file in media.get("media:content") if file.get("url") and media_kind(file) in _PLAYABLE]
    found: dict[str, Enclosure] = {}
    for file in files[:_MAX_ENCLOSURES]:
        address = file.get("url") or file.get("href") or element_text(file)
        if address:
            enclosure = _enclosure(file, address, scope)
            found.setdefault(enclosure.url, enclosure)
    _add_podcast_fields(found, fields, scope)
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


def _add_podcast_fields(found: dict[str, Enclosure], fields: Fields, scope: XmlScope) -> None:
    """Sets the duration and the chapters of the entry on its first audio or video file that has none of its own."""
    places = fields.layout.places
    if "itunes:duration" in places:
        _set_on_first(found, "duration", parse_duration(first_text(fields, "itunes:duration")))
    if "psc:chapters" in places:
        _set_on_first(found, "chapters", _chapters(fields, scope))


def _set_on_first(found: dict[str, Enclosure], field: str, value: Any) -> None:
    if not value:
        return
    for url, enclosure in found.items():
        if not getattr(enclosure, field) and (enclosure.type or "audio").startswith(_PLAYABLE):
            found[url] = replace(enclosure, **{field: value})
            return


def _chapters(fields: Fields, scope: XmlScope) -> tuple[Chapter, ...]:
    """The chapters of Podlove Simple Chapters, each start once."""
    found: dict[timedelta, Chapter] = {}
    for chapter in fields.inside(fields.get("psc:chapters")[0]).get("psc:chapter")[:_MAX_CHAPTERS]:
        start, title, address = (
            parse_offset(chapter.get("start")),
            chapter.get("title", "").strip(),
            chapter.get("href"),
        )
        if start is not None and title:
            found.setdefault(start, Chapter(start, title[:_LONGEST_TITLE], scope.resolve(address) if address else None))
    return tuple(found[start] for start in sorted(found))
