"""Reads the authors of a feed or entry."""

from collections.abc import Iterable
from xml.etree.ElementTree import Element

from feedmill.collect.parsing.formats.element_names import ElementNames
from feedmill.collect.parsing.formats.field_texts import MAX_SHORT_TEXT, clip_text
from feedmill.collect.parsing.formats.fields import Fields

_MAX_PEOPLE = 20


def authors(fields: Fields, groups: Iterable[tuple[int, ...]]) -> str | None:
    """The people in the first of these groups that names anyone; a bare address gives way to a name."""
    address = None
    for places in groups:
        people = _person(fields, places[0]) if len(places) == 1 else _people(fields, places)
        if people and ("@" not in people or " " in people):
            return people[:MAX_SHORT_TEXT]
        address = address or people
    return address


def _people(fields: Fields, places: Iterable[int]) -> str | None:
    names = dict.fromkeys([name for place in places if (name := _person(fields, place))])
    return ", ".join(list(names)[:_MAX_PEOPLE]) or None


def _person(fields: Fields, place: int) -> str | None:
    text = fields.texts[place]
    if text:
        return text[:MAX_SHORT_TEXT]
    element = fields.elements[place]
    return _described(element, fields.layout.layouts.names) if len(element) else None


def _described(person: Element, names: ElementNames) -> str | None:
    """The person that the elements inside another describe; the first of each name counts."""
    said = {names[child.tag]: text for child in reversed(person) if (text := (child.text or "").strip())}
    name = clip_text(said.get("name") or said.get("itunes:name"))
    email = clip_text(said.get("email") or said.get("itunes:email"))
    if name and email and email != name:
        return f"{name} ({email})"
    return name or email or clip_text(said.get("uri") or said.get("url"))
