"""One RSS item or Atom entry, made of its fields. Feeds mix the formats freely, so one reader reads both."""

from html import escape

from feedmill.collect.fields import NO_FIELDS, Attributes, Field, Fields
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
from feedmill.collect.formats.scope import Scope, clean_language
from feedmill.model.parsed import ParsedEntry

_CONTENT = ("content:encoded", "content", "fullitem", "xhtml:body", "xhtml:div", "body")
_DESCRIPTIONS = frozenset({"description", "summary"})
_LESSER_SUMMARY = (
    "itunes:summary", "dc:description", "dcterms:abstract", "googleplay:description", "itunes:subtitle",
)  # fmt: skip
_PUBLISHED = ("pubdate", "published", "issued", "dcterms:issued", "created", "dcterms:created", "dc:date")
_UPDATED = ("updated", "modified", "dcterms:modified", "dc:date")
_UPDATES = frozenset(_UPDATED)
_NO_DATE = (None, None)
_AUTHORS = ("author", "dc:creator", "itunes:author", "dc:author", "googleplay:author")
# Most entries have none of these, and then there is no need to look for each.
_EXTRAS = frozenset({
    "enclosure", "image", "categories", "itunes:image", "googleplay:image", "itunes:category", "itunes:keywords",
    "keywords", "media:group", "media:content", "media:thumbnail", "media:title", "media:description", "media:category",
    "media:keywords", "dc:subject", "dcterms:subject",
})  # fmt: skip
_MEDIA = frozenset(name for name in _EXTRAS if name.startswith("media:"))
_PLAIN = frozenset({"text", "text/plain"})
_NONE_RELATED: Related = {}


def read_entry(attributes: Attributes, fields: Fields, scope: Scope, author: str | None) -> ParsedEntry:
    """Make an entry of an element's fields; `author` is who wrote what names nobody."""
    plain, rich = fields
    if attributes:
        scope = scope.inside(attributes)
    is_simple = _EXTRAS.isdisjoint(plain) and _EXTRAS.isdisjoint(rich)
    found_media = NO_FIELDS if is_simple or not _has_media(fields) else media(fields)
    related = related_links(fields) if "link" in rich else _NONE_RELATED
    content, inner = _content(fields, scope)
    summary = _summary(fields, found_media)
    published_at, published_raw = first_date(fields, _PUBLISHED)
    updated_at, updated_raw = (
        _NO_DATE if "pubdate" in plain and _UPDATES.isdisjoint(plain) else first_date(fields, _UPDATED)
    )
    return ParsedEntry(
        guid=plain.get("guid") or plain.get("id") or _guid(attributes, fields),
        link=_link(attributes, fields, scope),
        title=short_text(fields, "title") or _lesser_title(fields, found_media),
        author=authors(fields, _AUTHORS) or _source_author(fields) or author,
        content_html=content or summary,
        summary=summary,
        published_at=published_at or updated_at,
        updated_at=updated_at,
        published_raw=published_raw or updated_raw,
        updated_raw=updated_raw,
        categories=plain_categories(fields) if is_simple else categories(fields, found_media),
        enclosures=() if is_simple and not related else enclosures(fields, found_media, related, scope),
        image_url=None if is_simple else _image(fields, found_media, scope),
        comments_url=_comments(fields, related, scope),
        language=_language(fields, inner),
        base_url=inner.base if inner.stated else None,
    )


def _has_media(fields: Fields) -> bool:
    return not (_MEDIA.isdisjoint(fields.plain) and _MEDIA.isdisjoint(fields.rich))


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


def _content(fields: Fields, scope: Scope) -> tuple[str | None, Scope]:
    """The fullest text and its scope: one that is called so, or the second of two descriptions."""
    plain, rich = fields
    if plain.get("content:encoded"):
        return plain["content:encoded"], scope
    for name in _CONTENT:
        if plain.get(name):
            return plain[name], scope
        if name in rich:
            filled = [field for field in rich[name] if field[1]]
            if filled:
                chosen = min(filled, key=_is_plain) if len(filled) > 1 else filled[0]
                return _html(chosen), scope.inside(chosen[0])
    if "summary" not in plain and "summary" not in rich and "description" not in rich:
        return None, scope
    descriptions = _descriptions(fields)
    return (_html(descriptions[-1]), scope.inside(descriptions[-1][0])) if descriptions else (None, scope)


def _summary(fields: Fields, found_media: Fields) -> str | None:
    if "summary" not in fields.plain and fields.plain.get("description"):
        return fields.plain["description"]
    if "summary" in fields.plain or not _DESCRIPTIONS.isdisjoint(fields.rich):
        descriptions = _descriptions(fields)
        if descriptions:
            return body(descriptions[0])
    return first_text(fields, *_LESSER_SUMMARY) or first_text(found_media, "media:description")


def _descriptions(fields: Fields) -> list[Field]:
    """The descriptions that are not empty, in the order of the document as far as it is known."""
    names = [name for name in (*fields.plain, *fields.rich) if name in _DESCRIPTIONS]
    return [field for name in names for field in fields.get(name) if field[1]]


def _is_plain(field: Field) -> bool:
    return "html" not in field[0].get("type", "html")


def _html(field: Field) -> str:
    """The text of an element as HTML, escaped where Atom says that it is plain."""
    if not field[0]:
        return field[1]
    return escape(body(field), quote=False) if field[0].get("type") in _PLAIN else body(field)


def _source_author(fields: Fields) -> str | None:
    return authors(fields.rich["source"][0][2], ("author",)) if "source" in fields.rich else None


def _image(fields: Fields, found_media: Fields, scope: Scope) -> str | None:
    return (
        picture(fields, scope, "itunes:image", "googleplay:image")
        or media_picture(found_media, scope)
        or picture(fields, scope, "image")
        or _enclosed_image(fields, scope)
    )


def _enclosed_image(fields: Fields, scope: Scope) -> str | None:
    for attributes, _, _ in fields.get("enclosure"):
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
