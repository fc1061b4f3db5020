"""What there is to read in an entry, worked out once for all entries that consist of the same elements."""

from functools import lru_cache
from typing import NamedTuple

_CONTENT = ("content:encoded", "content", "fullitem", "xhtml:body", "xhtml:div", "body")
_DESCRIPTIONS = ("description", "summary")
_PUBLISHED = ("pubdate", "published", "issued", "dcterms:issued", "created", "dcterms:created", "dc:date")
_UPDATED = ("updated", "modified", "dcterms:modified", "dc:date")
_AUTHORS = ("author", "dc:creator", "itunes:author", "dc:author", "googleplay:author")
_EXTRAS = frozenset({
    "enclosure", "image", "categories", "itunes:image", "googleplay:image", "itunes:category", "itunes:keywords",
    "keywords", "media:group", "media:content", "media:thumbnail", "media:title", "media:description", "media:category",
    "media:keywords", "dc:subject", "dcterms:subject",
})  # fmt: skip


class Plan(NamedTuple):
    """The names of an entry's elements that can answer a question, best first; descriptions in their order."""

    content: tuple[str, ...]
    descriptions: tuple[str, ...]
    published: tuple[str, ...]
    updated: tuple[str, ...]
    authors: tuple[str, ...]
    has_extras: bool
    has_media: bool


@lru_cache(maxsize=1024)
def plan(names: tuple[str, ...]) -> Plan:
    """The plan for an entry with these elements."""
    return Plan(
        content=_among(names, _CONTENT),
        descriptions=tuple(name for name in names if name in _DESCRIPTIONS),
        published=_among(names, _PUBLISHED),
        updated=_among(names, _UPDATED),
        authors=_among(names, _AUTHORS),
        has_extras=not _EXTRAS.isdisjoint(names),
        has_media=any(name.startswith("media:") and name in _EXTRAS for name in names),
    )


def _among(names: tuple[str, ...], wanted: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in wanted if name in names)
