"""Reads the categories of a feed or entry from all elements that can hold them."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from feedmill.collect.parsing.formats.child_elements import Fields
from feedmill.collect.parsing.formats.field_texts import MAX_SHORT_TEXT, element_text

_MAX_CATEGORIES = 100


def categories(fields: Fields, media: Fields) -> tuple[str, ...]:
    """The categories in document order, those of Media RSS last. A label for people is preferred to the term."""
    plan = fields.layout.plan
    names = list(_topics(fields)) if plan.topics else _labels(fields, plan.categories)
    if plan.media:
        names += _media_topics(media)
    found = dict.fromkeys([name.strip()[:MAX_SHORT_TEXT] for name in names])
    found.pop("", None)
    return tuple(found)[:_MAX_CATEGORIES]


def _labels(fields: Fields, places: tuple[int, ...]) -> list[str]:
    elements, texts = fields.elements, fields.texts
    return [elements[place].get("label", "") or texts[place] or elements[place].get("term", "") for place in places]


def _topics(fields: Fields) -> Iterator[str]:
    for name, place in fields.layout.plan.topics:
        if name == "categories":
            inner = fields.inside(fields.elements[place])
            yield from _labels(inner, inner.layout.plan.categories)
        elif name == "itunes:category":
            yield from _itunes_category(fields.elements[place])
        elif name.endswith("keywords"):
            yield from fields.texts[place].split(",")
        else:
            yield from _labels(fields, (place,))


def _itunes_category(topic: Element) -> Iterator[str]:
    yield topic.get("text") or element_text(topic)
    for subtopic in topic:
        yield subtopic.get("text", "")


def _media_topics(media: Fields) -> Iterator[str]:
    yield from _labels(media, media.layout.places.get("media:category", ()))
    for place in media.layout.places.get("media:keywords", ()):
        yield from media.texts[place].split(",")
