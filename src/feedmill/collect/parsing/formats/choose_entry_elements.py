"""Chooses which child elements of an entry supply its guid, title, texts and dates."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

Places = Mapping[str, tuple[int, ...]]

NOWHERE = -1
_GUIDS = ("guid", "id")
_CONTENT = ("content:encoded", "content", "fullitem", "xhtml:body", "xhtml:div", "body")
_DESCRIPTIONS = ("description", "summary")
_PUBLISHED = ("pubdate", "published", "issued", "dcterms:issued", "created", "dcterms:created", "dc:date")
_UPDATED = ("updated", "modified", "dcterms:modified", "dc:date")
_AUTHORS = ("author", "dc:creator", "itunes:author", "dc:author", "googleplay:author", "managingeditor")
_CATEGORIES = ("category", "dc:subject")
_LANGUAGES = ("dc:language", "language")
_MEDIA = (
    "media:group",
    "media:content",
    "media:thumbnail",
    "media:title",
    "media:description",
    "media:category",
    "media:keywords",
)
_EXTENSION_TOPICS = frozenset({"categories", "itunes:category", "itunes:keywords", "keywords"})
_MEDIA_TOPICS = frozenset({"media:group", "media:content", "media:category", "media:keywords"})
_FILES = frozenset({"enclosure", *_MEDIA})
COVERS = ("itunes:image", "googleplay:image", "itunes:link", "podcast:image", "podcast:images")
_IMAGES = frozenset({"enclosure", "image", *COVERS, *_MEDIA})


class EntryPlan(Struct, frozen=True, gc=False):
    """By field of an entry the positions of the child elements that it is read from, the best first.

    Groups are the positions of one name. `topics` has the categories and those of extensions with their names, if there
    are any of extensions. A single position is that of the first element, or `NOWHERE`.
    """

    guid: int
    title: int
    link: int
    comments: int
    language: int
    original: int
    links: tuple[int, ...]
    contents: tuple[tuple[int, ...], ...]
    descriptions: tuple[int, ...]
    published: tuple[int, ...]
    updated: tuple[int, ...]
    authors: tuple[tuple[int, ...], ...]
    categories: tuple[int, ...]
    topics: tuple[tuple[str, int], ...]
    media: tuple[int, ...]
    has_source: bool
    has_topics: bool
    has_files: bool
    has_images: bool


def plan_for(places: Places) -> EntryPlan:
    """The plan for an entry with elements at these places."""
    return EntryPlan(
        guid=_first(places, _GUIDS),
        title=_first(places, ("title",)),
        link=_first(places, ("link",)),
        comments=_first(places, ("comments",)),
        language=_first(places, _LANGUAGES),
        original=_first(places, ("feedburner:origlink",)),
        links=places.get("link", ()),
        contents=place_groups(places, _CONTENT),
        descriptions=_in_order(places, _DESCRIPTIONS),
        published=newest_first(places, _PUBLISHED),
        updated=newest_first(places, _UPDATED),
        authors=place_groups(places, _AUTHORS),
        categories=_in_order(places, _CATEGORIES),
        topics=_topics(places),
        media=_in_order(places, _MEDIA),
        has_source="source" in places,
        has_topics=not _EXTENSION_TOPICS.isdisjoint(places) or not _MEDIA_TOPICS.isdisjoint(places),
        has_files=not _FILES.isdisjoint(places),
        has_images=not _IMAGES.isdisjoint(places),
    )


def place_groups(places: Places, names: Iterable[str]) -> tuple[tuple[int, ...], ...]:
    """The positions of each of these names that occurs, one group per name."""
    return tuple([places[name] for name in names if name in places])


def newest_first(places: Places, names: Iterable[str]) -> tuple[int, ...]:
    """The positions of these names; of several dates with one name the last comes first."""
    return _joined([group[::-1] for group in place_groups(places, names)])


def _first(places: Places, names: Iterable[str]) -> int:
    return next((places[name][0] for name in names if name in places), NOWHERE)


def _in_order(places: Places, names: Iterable[str]) -> tuple[int, ...]:
    return tuple(sorted(_joined(place_groups(places, names))))


def _topics(places: Places) -> tuple[tuple[str, int], ...]:
    if _EXTENSION_TOPICS.isdisjoint(places):
        return ()
    found = [(name, place) for name in (*_CATEGORIES, *_EXTENSION_TOPICS) for place in places.get(name, ())]
    return tuple(sorted(found, key=lambda named: named[1]))


def _joined(found: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple([place for group in found for place in group])
