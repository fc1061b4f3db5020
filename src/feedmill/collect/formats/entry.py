"""One RSS item or Atom entry, made of its fields. Feeds mix the formats freely, so one reader reads both."""

from collections.abc import Iterable, Iterator

from feedmill.collect.fields import Attributes, Field
from feedmill.collect.formats.enclosures import enclosures
from feedmill.collect.formats.extensions import media, picture
from feedmill.collect.formats.grouping import MAX_SHORT_TEXT, Grouped, body, first_date, first_text, group, short_text, texts
from feedmill.collect.formats.links import is_web, page_link, permalink, related_link, web_address
from feedmill.collect.formats.names import RDF_ABOUT, XML_LANG
from feedmill.collect.formats.people import authors
from feedmill.collect.formats.scope import Scope, clean_language
from feedmill.model.parsed import ParsedEntry

_CONTENT = ("content:encoded", "content", "fullitem", "xhtml:body", "xhtml:div", "body")
_SUMMARY = ("description", "summary")
_LESSER_SUMMARY = (
    "itunes:summary", "media:description", "dc:description", "dcterms:abstract", "googleplay:description",
    "itunes:subtitle",
)  # fmt: skip
_PUBLISHED = ("pubdate", "published", "issued", "dcterms:issued", "created", "dcterms:created", "dc:date")
_UPDATED = ("updated", "modified", "dcterms:modified", "dc:date")
_AUTHORS = ("author", "dc:creator", "itunes:author", "dc:author", "googleplay:author")
_MAX_CATEGORIES = 100
_NO_MEDIA: Grouped = {}


def read_entry(attributes: Attributes, fields: list[Field], scope: Scope, author: str | None) -> ParsedEntry:
    """Make an entry of an element's fields; `author` is who wrote what names nobody."""
    grouped = group(fields)
    scope = scope.inside(attributes)
    found_media = media(grouped) if any(key.startswith("media:") for key in grouped) else _NO_MEDIA
    content, summary = _content_and_summary(grouped, found_media)
    published_at, published_raw = first_date(grouped, *_PUBLISHED)
    updated_at, updated_raw = first_date(grouped, *_UPDATED)
    return ParsedEntry(
        guid=first_text(grouped, "guid", "id") or attributes.get(RDF_ABOUT) or first_text(grouped, "dc:identifier"),
        link=_link(attributes, grouped, scope),
        title=_title(grouped, found_media),
        author=authors(grouped, *_AUTHORS) or _source_author(grouped) or author,
        content_html=content,
        summary=summary,
        published_at=published_at or updated_at,
        updated_at=updated_at,
        published_raw=published_raw or updated_raw,
        updated_raw=updated_raw,
        categories=_categories(grouped, found_media),
        enclosures=enclosures(grouped, found_media, scope),
        image_url=_image(grouped, found_media, scope),
        comments_url=web_address(grouped, scope, "comments") or related_link(grouped, "replies", scope),
        language=_language(grouped, scope),
        base_url=_base(grouped, scope),
    )


def _title(grouped: Grouped, found_media: Grouped) -> str | None:
    return (
        short_text(grouped, "title")
        or short_text(found_media, "media:title")
        or short_text(grouped, "dc:title", "itunes:title")
    )


def _link(attributes: Attributes, grouped: Grouped, scope: Scope) -> str | None:
    """The entry's page: FeedBurner's note of the original, a link, or what else is surely an address of it."""
    link = web_address(grouped, scope, "feedburner:origlink") or page_link(grouped, scope) or permalink(grouped)
    if link:
        return link
    about = attributes.get(RDF_ABOUT, "")
    return about if is_web(about) else _content_source(grouped, scope)


def _content_source(grouped: Grouped, scope: Scope) -> str | None:
    sources = (field[1]["src"] for field in grouped.get("content", ()) if field[1].get("src"))
    return next(map(scope.resolve, sources), None)


def _content_and_summary(grouped: Grouped, found_media: Grouped) -> tuple[str | None, str | None]:
    """The fullest text and the summary; of two descriptions the first is the summary."""
    content = next((_html(field) for key in _CONTENT for field in _richest_first(grouped.get(key, ())) if field[2]), None)
    descriptions = [_html(field) for fields in map(grouped.get, _SUMMARY) for field in fields or () if field[2]]
    if not descriptions:
        descriptions = [*texts(grouped, *_LESSER_SUMMARY), *texts(found_media, "media:description")][:1]
    summary = descriptions[0] if descriptions else None
    return content or (descriptions[-1] if descriptions else None), summary


def _richest_first(fields: Iterable[Field]) -> list[Field]:
    return sorted(fields, key=lambda field: "html" not in field[1].get("type", "html"))


def _html(field: Field) -> str:
    return body(field)


def _source_author(grouped: Grouped) -> str | None:
    return next((authors(group(field[3]), "author") for field in grouped.get("source", ()) if field[3]), None)


def _categories(grouped: Grouped, found_media: Grouped) -> tuple[str, ...]:
    names = dict.fromkeys(name.strip()[:MAX_SHORT_TEXT] for name in _all_categories(grouped, found_media))
    names.pop("", None)
    return tuple(names)[:_MAX_CATEGORIES]


def _all_categories(grouped: Grouped, found_media: Grouped) -> Iterator[str]:
    for key in ("category", "dc:subject", "dcterms:subject", "itunes:category"):
        for _, attributes, text, _ in grouped.get(key, ()):
            yield attributes.get("term") or text or attributes.get("label") or attributes.get("text", "")
    for _, attributes, text, _ in found_media.get("media:category", ()):
        yield text or attributes.get("label", "")
    for text in (*texts(grouped, "itunes:keywords", "keywords"), *texts(found_media, "media:keywords")):
        yield from text.split(",")


def _image(grouped: Grouped, found_media: Grouped, scope: Scope) -> str | None:
    return (
        picture(grouped, scope, "itunes:image", "googleplay:image")
        or picture(found_media, scope, "media:thumbnail")
        or _media_image(found_media, scope)
        or picture(grouped, scope, "image")
        or _enclosed_image(grouped, scope)
    )


def _media_image(found_media: Grouped, scope: Scope) -> str | None:
    for _, attributes, _, _ in found_media.get("media:content", ()):
        if attributes.get("url") and (attributes.get("medium") == "image" or _is_image(attributes)):
            return scope.resolve(attributes["url"])
    return None


def _enclosed_image(grouped: Grouped, scope: Scope) -> str | None:
    for _, attributes, _, _ in grouped.get("enclosure", ()):
        if attributes.get("url") and _is_image(attributes):
            return scope.resolve(attributes["url"])
    return None


def _is_image(attributes: Attributes) -> bool:
    return attributes.get("type", "").startswith("image/")


def _language(grouped: Grouped, scope: Scope) -> str | None:
    for key in ("content", "content:encoded", "fullitem", "xhtml:body"):
        for field in grouped.get(key, ()):
            if XML_LANG in field[1]:
                return clean_language(field[1][XML_LANG])
    own = first_text(grouped, "dc:language", "language")
    return clean_language(own) if own else scope.language


def _base(grouped: Grouped, scope: Scope) -> str | None:
    """What the content's relative addresses refer to, where the feed says so."""
    for key in _CONTENT + _SUMMARY:
        for field in grouped.get(key, ()):
            scope = scope.inside(field[1])
            return scope.base if scope.stated else None
    return scope.base if scope.stated else None
