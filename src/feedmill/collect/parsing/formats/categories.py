"""Reads the categories of an entry from all elements that can hold them."""

from collections.abc import Iterator

from feedmill.collect.parsing.formats.child_elements import Fields
from feedmill.collect.parsing.formats.field_texts import MAX_SHORT_TEXT, first_text

_MAX_CATEGORIES = 100
_KEYWORDS = ("itunes:keywords", "keywords", "media:keywords")


def categories(fields: Fields, media: Fields) -> tuple[str, ...]:
    """The categories of an entry: first its category elements, then those of extensions."""
    plan = fields.layout.plan
    names = _names(fields, plan.categories)
    if plan.has_topics:
        names += _topics(fields)
        names += _names(media, media.layout.places.get("media:category", ()))
        names += _keywords(fields)
    found = dict.fromkeys([name.strip()[:MAX_SHORT_TEXT] for name in names])
    found.pop("", None)
    return tuple(found)[:_MAX_CATEGORIES]


def _names(fields: Fields, places: tuple[int, ...]) -> list[str]:
    elements, texts = fields.elements, fields.texts
    return [elements[place].get("term", "") or texts[place] or elements[place].get("label", "") for place in places]


def _topics(fields: Fields) -> Iterator[str]:
    for group in fields.get("categories"):
        inner = fields.inside(group)
        yield from _names(inner, inner.layout.plan.categories)
    for topic in fields.get("itunes:category"):
        yield topic.get("text") or topic.text or ""
        for subtopic in topic:
            yield subtopic.get("text", "")


def _keywords(fields: Fields) -> Iterator[str]:
    for name in _KEYWORDS:
        if name in fields.layout.places:
            yield from (first_text(fields, name) or "").split(",")
