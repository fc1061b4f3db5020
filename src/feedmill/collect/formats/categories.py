"""What an entry is about, from all the elements that say so."""

from collections.abc import Sequence

from feedmill.collect.fields import Field, Fields
from feedmill.collect.formats.grouping import MAX_SHORT_TEXT

_MAX_CATEGORIES = 100
_NAMED = ("category", "dc:subject", "dcterms:subject")
_KEYWORDS = ("itunes:keywords", "keywords", "media:keywords")


def plain_categories(fields: Fields) -> tuple[str, ...]:
    """The categories of an entry that has no other element to say what it is about."""
    if "category" in fields.rich:
        return _once(_names(fields.get("category")))
    name = fields.plain.get("category")
    return (name[:MAX_SHORT_TEXT],) if name else ()


def categories(fields: Fields, found_media: Fields) -> tuple[str, ...]:
    """The categories of an entry, its own first."""
    plain, rich = fields
    names = [name for named in _NAMED if named in plain or named in rich for name in _names(fields.get(named))]
    if "categories" in rich:
        names += [name for field in rich["categories"] for name in _names(field[2].get("category"))]
    for attributes, text, children in rich.get("itunes:category", ()):
        names.append(attributes.get("text") or text)
        names += [child[0].get("text", "") for child in children.get("itunes:category")]
    if "media:category" in found_media.rich:
        names += [text or attributes.get("label", "") for attributes, text, _ in found_media.rich["media:category"]]
    for listed in _KEYWORDS:
        if listed in plain:
            names += plain[listed].split(",")
    return _once(names)


def _names(fields: Sequence[Field]) -> list[str]:
    return [
        text if not attributes else attributes.get("term") or text or attributes.get("label", "")
        for attributes, text, _ in fields
    ]


def _once(names: list[str]) -> tuple[str, ...]:
    found = dict.fromkeys([name.strip()[:MAX_SHORT_TEXT] for name in names])
    found.pop("", None)
    return tuple(found)[:_MAX_CATEGORIES]
