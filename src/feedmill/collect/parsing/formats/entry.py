"""Reads one RSS item or Atom entry; feeds mix both formats, so one reader does both."""

from html import escape

from feedmill.collect.parsing.formats.authors import authors
from feedmill.collect.parsing.formats.categories import categories
from feedmill.collect.parsing.formats.element_names import RDF_ABOUT
from feedmill.collect.parsing.formats.enclosures import enclosures
from feedmill.collect.parsing.formats.entry_plan import NOWHERE, place_groups
from feedmill.collect.parsing.formats.extensions import media_elements, media_picture_url, picture_url
from feedmill.collect.parsing.formats.field_texts import clip_text, first_date, first_text, text_at
from feedmill.collect.parsing.formats.fields import NO_FIELDS, Fields
from feedmill.collect.parsing.formats.links import (
    LinksByRelation,
    group_by_relation,
    is_web_url,
    page_link,
    permalink,
    related_link,
)
from feedmill.collect.parsing.formats.xml_scope import XmlScope, clean_language
from feedmill.collect.parsing.xml_tree import Attributes, attributes_of
from feedmill.model.parsed_feed import ParsedEntry

_LESSER_SUMMARY = (
    "itunes:summary",
    "dc:description",
    "dcterms:abstract",
    "googleplay:description",
    "itunes:subtitle",
)
_PLAIN = frozenset({"text", "text/plain"})
_NONE_RELATED: LinksByRelation = {}


def read_entry(attributes: Attributes, fields: Fields, scope: XmlScope, author: str | None) -> ParsedEntry:
    """Make an entry of an element's fields; `author` is who wrote what names nobody."""
    texts, plan = fields.texts, fields.layout.plan
    if attributes:
        scope = scope.inside(attributes)
    found_media = media_elements(fields) if plan.media else NO_FIELDS
    link, related = _links(fields, scope)
    described = [place for place in plan.descriptions if texts[place]]
    content, inner = _content(fields, described, scope)
    summary = text_at(fields, described[0]) if described else _lesser_summary(fields, found_media)
    published_at, published_raw = first_date(texts, plan.published)
    updated_at, updated_raw = first_date(texts, plan.updated) if plan.updated else (None, None)
    # By position, in the order of the fields: by name it takes four times as long.
    return ParsedEntry(
        texts[plan.guid] or _lesser_guid(attributes, fields),
        link or _lesser_link(attributes, fields, scope),
        clip_text(text_at(fields, plan.title) or _lesser_title(fields, found_media)),
        (authors(fields, plan.authors) if plan.authors else None)
        or (_source_author(fields) if plan.has_source else None)
        or author,
        content or summary,
        summary,
        published_at or updated_at,
        updated_at,
        published_raw or updated_raw,
        updated_raw,
        categories(fields, found_media) if plan.categories or plan.has_topics else (),
        enclosures(fields, found_media, related, scope) if plan.has_files or "enclosure" in related else (),
        _image(fields, found_media, scope) if plan.has_images else None,
        _comments(fields, related, scope) if plan.comments != NOWHERE or "replies" in related else None,
        clean_language(texts[plan.language]) if texts[plan.language] else inner.language,
        inner.base if inner.stated else None,
    )


def _links(fields: Fields, scope: XmlScope) -> tuple[str | None, LinksByRelation]:
    """The entry's page (before that, FeedBurner's note of the original), and the links to whatever else."""
    texts, plan = fields.texts, fields.layout.plan
    original = texts[plan.original]
    if len(plan.links) == 1 and texts[plan.link] and not fields.elements[plan.link].keys():
        return scope.resolve(original or texts[plan.link]), _NONE_RELATED
    related = group_by_relation([fields.elements[place] for place in plan.links])
    return scope.resolve(original) if original else page_link(related, scope), related


def _lesser_guid(attributes: Attributes, fields: Fields) -> str | None:
    return first_text(fields, "guid", "id") or attributes.get(RDF_ABOUT) or first_text(fields, "dc:identifier")


def _lesser_link(attributes: Attributes, fields: Fields, scope: XmlScope) -> str | None:
    """What else is surely the address of an entry that gives no link."""
    link = permalink(fields)
    if link:
        return link
    about = attributes.get(RDF_ABOUT, "")
    return about if is_web_url(about) else _content_source(fields, scope)


def _content_source(fields: Fields, scope: XmlScope) -> str | None:
    sources = [source for element in fields.get("content") if (source := element.get("src"))]
    return scope.resolve(sources[0]) if sources else None


def _lesser_title(fields: Fields, found_media: Fields) -> str | None:
    return first_text(found_media, "media:title") or first_text(fields, "title", "dc:title", "itunes:title")


def _content(fields: Fields, described: list[int], scope: XmlScope) -> tuple[str | None, XmlScope]:
    """The fullest text and its scope: one that is called so, or the last description."""
    for places in fields.layout.plan.contents:
        place = places[0] if len(places) == 1 else _fullest(fields, places)
        if fields.texts[place]:
            return _html(fields, place, scope)
    return _html(fields, described[-1], scope) if described else (None, scope)


def _fullest(fields: Fields, places: tuple[int, ...]) -> int:
    """Of several contents, one that is not empty, and HTML where there is such a one."""
    return min(places, key=lambda at: (not fields.texts[at], "html" not in fields.elements[at].get("type", "html")))


def _html(fields: Fields, place: int, scope: XmlScope) -> tuple[str, XmlScope]:
    """A text as HTML, escaped where Atom says that it is plain, and its scope."""
    element = fields.elements[place]
    if not element.keys():
        return fields.texts[place], scope
    text = text_at(fields, place)
    written = escape(text, quote=False) if element.get("type") in _PLAIN else text
    return written, scope.inside(attributes_of(element))


def _lesser_summary(fields: Fields, found_media: Fields) -> str | None:
    return first_text(fields, *_LESSER_SUMMARY) or first_text(found_media, "media:description")


def _source_author(fields: Fields) -> str | None:
    source = fields.inside(fields.get("source")[0])
    return authors(source, place_groups(source.layout.places, ("author",)))


def _image(fields: Fields, found_media: Fields, scope: XmlScope) -> str | None:
    return (
        picture_url(fields, scope, "itunes:image", "googleplay:image")
        or media_picture_url(found_media, scope)
        or picture_url(fields, scope, "image")
        or _enclosed_image(fields, scope)
    )


def _enclosed_image(fields: Fields, scope: XmlScope) -> str | None:
    for file in fields.get("enclosure"):
        address = file.get("url")
        if address and file.get("type", "").startswith("image/"):
            return scope.resolve(address)
    return None


def _comments(fields: Fields, related: LinksByRelation, scope: XmlScope) -> str | None:
    text = fields.texts[fields.layout.plan.comments]
    return scope.resolve(text) if text else related_link(related, "replies", scope)
