"""Reads the properties of an RSS channel or Atom feed."""

from typing import NamedTuple
from xml.etree.ElementTree import Element

from feedmill.collect.parsing.formats.authors import authors
from feedmill.collect.parsing.formats.categories import categories
from feedmill.collect.parsing.formats.cdf import CDF, is_cdf
from feedmill.collect.parsing.formats.child_elements import NO_FIELDS, Fields
from feedmill.collect.parsing.formats.choose_entry_elements import COVERS, newest_first, place_groups
from feedmill.collect.parsing.formats.dates import first_date
from feedmill.collect.parsing.formats.element_names import ATOM_03, RSS_090, split_name
from feedmill.collect.parsing.formats.extensions import media_elements, media_picture_url, picture_url
from feedmill.collect.parsing.formats.field_texts import first_text, short_text
from feedmill.collect.parsing.formats.links import LinksByRelation, related_link, web_address
from feedmill.collect.parsing.formats.polling_hints import skip_days, skip_hours, ttl, update_period
from feedmill.collect.parsing.formats.xml_scope import XmlScope, clean_language
from feedmill.model.parsed_feed import ParsedEntry, ParsedFeed

_DESCRIPTIONS = (
    "description",
    "subtitle",
    "tagline",
    "itunes:summary",
    "itunes:subtitle",
    "dc:description",
    "googleplay:description",
    "info",
)
_UPDATED = (
    "updated",
    "lastbuilddate",
    "modified",
    "dcterms:modified",
    "dc:date",
    "pubdate",
    "published",
    "dcterms:issued",
    "dcterms:created",
    "created",
    "issued",
)
_PUBLISHED = ("pubdate", "published", "issued", "dcterms:issued", "created", "dcterms:created", "dc:date")
_AUTHORS = ("author", "managingeditor", "dc:creator", "itunes:author", "dc:author", "webmaster", "itunes:owner")


_PICTURES = ("image", "logo", *COVERS, "webfeeds:cover", "webfeeds:logo")
_RSS_11 = "http://purl.org/net/rss1.1#"


class FeedDocument(NamedTuple):
    """The format and encoding of a document, and the rdf:about of its channel."""

    format: str
    encoding: str
    about: str | None


def read_feed(
    fields: Fields,
    related: LinksByRelation,
    link: str | None,
    scope: XmlScope,
    entries: tuple[ParsedEntry, ...],
    document: FeedDocument,
) -> ParsedFeed:
    """Reads a feed from its fields and adds its entries; `scope` resolves its URLs."""
    places = fields.layout.places
    media = media_elements(fields) if fields.layout.plan.media else NO_FIELDS
    published_at, _ = first_date(fields.texts, newest_first(places, _PUBLISHED))
    updated_at, updated_raw = first_date(fields.texts, newest_first(places, _UPDATED))
    icon = web_address(fields, scope, "icon") or picture_url(fields, scope, "webfeeds:icon")
    return ParsedFeed(
        id=short_text(fields, "id") or document.about or short_text(fields, "podcast:guid"),
        title=short_text(fields, "title") or short_text(fields, "dc:title") or short_text(fields, "itunes:title"),
        link=link,
        description=first_text(fields, *_DESCRIPTIONS),
        author=authors(fields, place_groups(places, _AUTHORS)),
        language=_language(fields, scope),
        image_url=_image(fields, media, scope) or icon,
        icon_url=icon,
        published_at=published_at,
        updated_at=updated_at,
        categories=_categories(fields, media),
        entries=entries,
        updated_raw=updated_raw,
        ttl=ttl(fields),
        update_period=update_period(fields),
        skip_hours=skip_hours(fields),
        skip_days=skip_days(fields),
        hub_url=related_link(related, "hub", scope),
        self_url=related_link(related, "self", scope),
        format=document.format,
        encoding=document.encoding,
    )


def feed_format(root: Element) -> str:
    """The format of a document by its root element: `rss20`, `atom10`, `cdf`, …"""
    namespace, local = split_name(root.tag)
    if local.lower() in ("feed", "entry"):
        return "atom03" if namespace == ATOM_03 or root.get("version") == "0.3" else "atom10"
    if local.lower() == "rdf":
        return "rss090" if any(split_name(child.tag)[0] == RSS_090 for child in root) else "rss10"
    if is_cdf(root):
        return CDF
    version = root.get("version", "").strip() or ("1.1" if namespace == _RSS_11 else "")
    return "rss20" if version.startswith("2") else "rss" + version.replace(".", "")[:4]


def _language(fields: Fields, scope: XmlScope) -> str | None:
    own = first_text(fields, "language", "dc:language")
    return clean_language(own) if own else scope.language


def _categories(fields: Fields, media: Fields) -> tuple[str, ...]:
    plan = fields.layout.plan
    return categories(fields, media) if plan.categories or plan.has_topics else ()


def _image(fields: Fields, media: Fields, scope: XmlScope) -> str | None:
    return picture_url(fields, scope, *_PICTURES) or media_picture_url(media, scope)
