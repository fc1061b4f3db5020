"""One RSS item or Atom entry, made of its fields. Feeds mix the formats freely, so one reader reads both."""

from collections.abc import Sequence
from html import escape

from feedmill.collect.fields import NO_FIELDS, Field, Fields
from feedmill.collect.formats.categories import categories, plain_categories
from feedmill.collect.formats.enclosures import enclosures
from feedmill.collect.formats.extensions import media, media_picture, picture
from feedmill.collect.formats.grouping import body, first_date, first_text, short_text
from feedmill.collect.formats.links import (
    Related,
    is_web,
    page_link,
    permalink,
    related_link,
    related_links,
    web_address,
)
from feedmill.collect.formats.names import RDF_ABOUT
from feedmill.collect.formats.people import authors
from feedmill.collect.formats.plan import plan
from feedmill.collect.formats.scope import Scope, clean_language
from feedmill.collect.xml_tree import NO_ATTRIBUTES, Attributes
from feedmill.model.parsed import ParsedEntry

_LESSER_SUMMARY = (
    "itunes:summary", "dc:description", "dcterms:abstract", "googleplay:description", "itunes:subtitle",
)  # fmt: skip
_PLAIN = frozenset({"text", "text/plain"})
_NONE_RELATED: Related = {}


def read_entry(attributes: Attributes, fields: Fields, scope: Scope, author: str | None) -> ParsedEntry:
    """Make an entry of an element's fields; `author` is who wrote what names nobody."""
    plain, rich = fields
    if attributes:
        scope = scope.inside(attributes)
    contents, described, published, updated, people, has_extras, has_media = plan((*plain, *rich))
    found_media = media(fields) if has_media else NO_FIELDS
    related = related_links(fields) if "link" in rich else _NONE_RELATED
    descriptions = _descriptions(fields, described)
    content, inner = _content(fields, contents, descriptions, scope)
    summary = body(descriptions[0]) if descriptions else _lesser_summary(fields, found_media)
    published_at, published_raw = first_date(fields, published)
    updated_at, updated_raw = first_date(fields, updated) if updated else (None, None)
    # By position, in the order of the fields: by name it takes four times as long.
    return ParsedEntry(
        plain.get("guid") or plain.get("id") or _guid(attributes, fields),
        _link(attributes, fields, scope),
        short_text(fields, "title") or _lesser_title(fields, found_media),
        authors(fields, people) or _source_author(fields) or author,
        content or summary,
        summary,
        published_at or updated_at,
        updated_at,
        published_raw or updated_raw,
        updated_raw,
        categories(fields, found_media) if has_extras else plain_categories(fields),
        enclosures(fields, found_media, related, scope) if has_extras or "enclosure" in related else (),
        _image(fields, found_media, scope) if has_extras else None,
        _comments(fields, related, scope),
        _language(fields, inner),
        inner.base if inner.stated else None,
    )


def _guid(attributes: Attributes, fields: Fields) -> str | None:
    guid = first_text(fields, "guid", "id")
    return guid or (attributes.get(RDF_ABOUT) if attributes else None) or first_text(fields, "dc:identifier")


def _lesser_title(fields: Fields, found_media: Fields) -> str | None:
    return (
        short_text(found_media, "media:title") or short_text(fields, "dc:title") or short_text(fields, "itunes:title")
    )


def _link(attributes: Attributes, fields: Fields, scope: Scope) -> str | None:
    """The entry's page: FeedBurner's note of the original, a link, or what else is surely an address of it."""
    if "feedburner:origlink" in fields.plain:
        return web_address(fields, scope, "feedburner:origlink") or page_link(fields, scope)
    link = page_link(fields, scope) or permalink(fields)
    if link:
        return link
    about = attributes.get(RDF_ABOUT, "")
    return about if is_web(about) else _content_source(fields, scope)


def _content_source(fields: Fields, scope: Scope) -> str | None:
    sources = [field[0]["src"] for field in fields.get("content") if field[0].get("src")]
    return scope.resolve(sources[0]) if sources else None


def _content(
    fields: Fields, names: Sequence[str], descriptions: Sequence[Field], scope: Scope
) -> tuple[str | None, Scope]:
    """The fullest text and its scope: one that is called so, or the last description."""
    plain, rich = fields
    for name in names:
        if plain.get(name):
            return plain[name], scope
        if name in rich:
            chosen = rich[name][0] if len(rich[name]) == 1 else min(rich[name], key=_is_plain_or_empty)
            if chosen[1]:
                return _html(chosen), scope.inside(chosen[0])
    if not descriptions:
        return None, scope
    return _html(descriptions[-1]), scope.inside(descriptions[-1][0])


def _descriptions(fields: Fields, names: Sequence[str]) -> list[Field]:
    """The descriptions that are not empty, in the order of the document as far as it is known."""
    if len(names) == 1 and names[0] in fields.plain:
        text = fields.plain[names[0]]
        return [(NO_ATTRIBUTES, text, NO_FIELDS)] if text else []
    return [field for name in names for field in fields.get(name) if field[1]]


def _lesser_summary(fields: Fields, found_media: Fields) -> str | None:
    return first_text(fields, *_LESSER_SUMMARY) or first_text(found_media, "media:description")


def _is_plain_or_empty(field: Field) -> tuple[bool, bool]:
    return not field[1], "html" not in field[0].get("type", "html")


def _html(field: Field) -> str:
    """The text of an element as HTML, escaped where Atom says that it is plain."""
    return escape(body(field), quote=False) if field[0].get("type") in _PLAIN else body(field)


def _source_author(fields: Fields) -> str | None:
    return authors(fields.rich["source"][0][2], ("author",)) if "source" in fields.rich else None


def _image(fields: Fields, found_media: Fields, scope: Scope) -> str | None:
    return (
        picture(fields, scope, "itunes:image", "googleplay:image")
        or (media_picture(found_media, scope) if found_media is not NO_FIELDS else None)
        or picture(fields, scope, "image")
        or _enclosed_image(fields, scope)
    )


def _enclosed_image(fields: Fields, scope: Scope) -> str | None:
    for attributes, _, _ in fields.rich.get("enclosure", ()):
        if attributes.get("url") and attributes.get("type", "").startswith("image/"):
            return scope.resolve(attributes["url"])
    return None


def _comments(fields: Fields, related: Related, scope: Scope) -> str | None:
    if "comments" in fields.plain:
        return web_address(fields, scope, "comments")
    return related_link(related, "replies", scope) if related else None


def _language(fields: Fields, scope: Scope) -> str | None:
    own = fields.plain.get("dc:language") or fields.plain.get("language")
    return clean_language(own) if own else scope.language
