"""Reads one RSS item or Atom entry; feeds mix both formats, so one reader does both."""

from collections.abc import Iterable
from html import escape
from xml.etree.ElementTree import Element

from feedmill.collect.parsing.formats.authors import authors
from feedmill.collect.parsing.formats.categories import categories
from feedmill.collect.parsing.formats.child_elements import NO_FIELDS, Fields
from feedmill.collect.parsing.formats.choose_entry_elements import COVERS, NOWHERE, place_groups
from feedmill.collect.parsing.formats.dates import first_date
from feedmill.collect.parsing.formats.element_names import RDF_ABOUT
from feedmill.collect.parsing.formats.enclosures import enclosures
from feedmill.collect.parsing.formats.extensions import media_elements, media_picture_url, picture_url
from feedmill.collect.parsing.formats.field_texts import clip_text, first_text, text_at
from feedmill.collect.parsing.formats.links import (
    LinksByRelation,
    group_by_relation,
    is_web_url,
    page_link,
    permalink,
    related_link,
    resolve_in,
)
from feedmill.collect.parsing.formats.xml_scope import XmlScope, clean_language
from feedmill.collect.parsing.xml_tree import Attributes, attributes_of
from feedmill.model.parsed_feed import ParsedEntry

_FALLBACK_SUMMARIES = (
    "itunes:summary",
    "dc:description",
    "dcterms:abstract",
    "googleplay:description",
    "itunes:subtitle",
)
_PLAIN = frozenset({"text", "text/plain"})
_NO_LINKS: LinksByRelation = {}


def read_entry(attributes: Attributes, fields: Fields, scope: XmlScope, author: str | None) -> ParsedEntry:
    """Reads an entry from the fields of an element; `author` is used if the entry names none."""
    texts, plan = fields.texts, fields.layout.plan
    if attributes:
        scope = scope.inside(attributes)
    media = media_elements(fields) if plan.media else NO_FIELDS
    link, related = _links(fields, scope)
    described = [place for place in plan.descriptions if texts[place]]
    content, inner = _content(fields, described, scope)
    summary = text_at(fields, described[0]) if described else _fallback_summary(fields, media)
    published_at, published_raw = first_date(texts, plan.published)
    updated_at, updated_raw = first_date(texts, plan.updated) if plan.updated else (None, None)
    # By position, in the order of the fields: keyword arguments take four times as long.
    return ParsedEntry(
        texts[plan.guid] or _fallback_guid(attributes, fields),
        link or _fallback_link(attributes, fields, scope),
        clip_text(text_at(fields, plan.title) or _fallback_title(fields, media)),
        (authors(fields, plan.authors) if plan.authors else None)
        or (_source_author(fields) if plan.has_source else None)
        or author,
        content or summary,
        summary,
        published_at or updated_at,
        updated_at,
        published_raw or updated_raw,
        updated_raw,
        categories(fields, media) if plan.categories or plan.has_topics else (),
        enclosures(fields, media, related, scope) if plan.has_files or "enclosure" in related else (),
        _image(fields, media, related, scope) if plan.has_images or "enclosure" in related else None,
        _comments(fields, related, scope) if plan.comments != NOWHERE or "replies" in related else None,
        clean_language(texts[plan.language]) if texts[plan.language] else inner.language,
        inner.base if inner.stated else None,
    )


def _links(fields: Fields, scope: XmlScope) -> tuple[str | None, LinksByRelation]:
    """The URL of the entry's page (FeedBurner's original link first), and its other links by relation."""
    texts, plan = fields.texts, fields.layout.plan
    original = texts[plan.original]
    if len(plan.links) == 1 and texts[plan.link] and not fields.elements[plan.link].keys():
        return scope.resolve(original or texts[plan.link]), _NO_LINKS
    related = group_by_relation([fields.elements[place] for place in plan.links])
    return scope.resolve(original) if original else page_link(related, scope), related


def _fallback_guid(attributes: Attributes, fields: Fields) -> str | None:
    return first_text(fields, "guid", "id") or attributes.get(RDF_ABOUT) or first_text(fields, "dc:identifier")


def _fallback_link(attributes: Attributes, fields: Fields, scope: XmlScope) -> str | None:
    """The URL of an entry without a link, from its guid, its rdf:about or the source of its content."""
    link = permalink(fields)
    if link:
        return link
    about = attributes.get(RDF_ABOUT, "")
    return about if is_web_url(about) else _content_source(fields, scope)


def _content_source(fields: Fields, scope: XmlScope) -> str | None:
    sources = [source for element in fields.get("content") if (source := element.get("src"))]
    return scope.resolve(sources[0]) if sources else None


def _fallback_title(fields: Fields, media: Fields) -> str | None:
    return first_text(media, "media:title") or first_text(fields, "title", "dc:title", "itunes:title")


def _content(fields: Fields, described: list[int], scope: XmlScope) -> tuple[str | None, XmlScope]:
    """The full text and its scope: a content element, else the last description."""
    for places in fields.layout.plan.contents:
        place = places[0] if len(places) == 1 else _best_content(fields, places)
        if fields.texts[place]:
            return _html(fields, place, scope)
    return _html(fields, described[-1], scope) if described else (None, scope)


def _best_content(fields: Fields, places: tuple[int, ...]) -> int:
    """Of several content elements one that is not empty, and HTML if there is one."""
    return min(places, key=lambda at: (not fields.texts[at], "html" not in fields.elements[at].get("type", "html")))


def _html(fields: Fields, place: int, scope: XmlScope) -> tuple[str, XmlScope]:
    """A text as HTML, escaped if Atom declares it as plain, and its scope."""
    element = fields.elements[place]
    if not element.keys():
        return fields.texts[place], scope
    text = text_at(fields, place)
    html = escape(text, quote=False) if element.get("type") in _PLAIN else text
    return html, scope.inside(attributes_of(element))


def _fallback_summary(fields: Fields, media: Fields) -> str | None:
    return first_text(fields, *_FALLBACK_SUMMARIES) or first_text(media, "media:description")


def _source_author(fields: Fields) -> str | None:
    source = fields.inside(fields.get("source")[0])
    return authors(source, place_groups(source.layout.places, ("author",)))


def _image(fields: Fields, media: Fields, related: LinksByRelation, scope: XmlScope) -> str | None:
    return (
        picture_url(fields, scope, *COVERS)
        or media_picture_url(media, scope)
        or picture_url(fields, scope, "image")
        or _enclosed_image([*fields.get("enclosure"), *related.get("enclosure", ())], scope)
    )


def _enclosed_image(files: Iterable[Element], scope: XmlScope) -> str | None:
    for file in files:
        address = file.get("url") or file.get("href")
        if address and file.get("type", "").startswith("image/"):
            return resolve_in(file, address, scope)
    return None


def _comments(fields: Fields, related: LinksByRelation, scope: XmlScope) -> str | None:
    text = fields.texts[fields.layout.plan.comments]
    return scope.resolve(text) if text else related_link(related, "replies", scope)
