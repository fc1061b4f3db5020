"""Reads the authors of a feed or entry."""

from collections.abc import Iterable
from xml.etree.ElementTree import Element

from feedmill.collect.parsing.formats.child_elements import Fields
from feedmill.collect.parsing.formats.element_names import ElementNames
from feedmill.collect.parsing.formats.field_texts import MAX_SHORT_TEXT, clip_text

_MAX_PEOPLE = 20


def authors(fields: Fields, groups: Iterable[tuple[int, ...]]) -> str | None:
    """The people in the first of these groups that has any. A name is preferred to a bare email address."""
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
    return _described_person(element, fields.layout.layouts.names) if len(element) else None


def _described_person(person: Element, names: ElementNames) -> str | None:
    """The person that the child elements describe; of several with one name the first counts."""
    texts = {names[child.tag]: text for child in reversed(person) if (text := (child.text or "").strip())}
    name = clip_text(texts.get("name") or texts.get("itunes:name"))
    email = clip_text(texts.get("email") or texts.get("itunes:email"))
    if name and email and email != name:
        return f"{name} ({email})"
    return name or email or clip_text(texts.get("uri") or texts.get("url"))
