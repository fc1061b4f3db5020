"""The feed around the entries, made of the fields of an RSS channel or an Atom feed."""

from feedmill.collect.fields import Attributes, Field
from feedmill.collect.formats.extensions import picture, skip_days, skip_hours, ttl, update_period
from feedmill.collect.formats.grouping import Grouped, first_date, first_text, group, short_text
from feedmill.collect.formats.links import is_web, page_link, related_link, web_address
from feedmill.collect.formats.names import ATOM_03, RDF_ABOUT, RSS_090
from feedmill.collect.formats.people import authors
from feedmill.collect.formats.scope import Scope, clean_language
from feedmill.model.parsed import ParsedEntry, ParsedFeed

_DESCRIPTIONS = (
    "description", "subtitle", "tagline", "itunes:summary", "itunes:subtitle", "dc:description",
    "googleplay:description", "info",
)  # fmt: skip
_UPDATED = ("updated", "lastbuilddate", "modified", "dcterms:modified", "dc:date", "pubdate", "published")
_AUTHORS = ("author", "managingeditor", "dc:creator", "itunes:author", "dc:author", "webmaster", "itunes:owner")


def read_feed(fields: list[Field], scope: Scope, entries: tuple[ParsedEntry, ...], form: str, encoding: str) -> ParsedFeed:
    """Make a feed of its fields and the entries that were read before."""
    grouped = group(fields)
    updated_at, updated_raw = first_date(grouped, *_UPDATED)
    icon = web_address(grouped, scope, "icon")
    return ParsedFeed(
        title=short_text(grouped, "title", "dc:title", "itunes:title"),
        link=feed_link(grouped, scope),
        description=first_text(grouped, *_DESCRIPTIONS),
        language=_language(grouped, scope),
        author=feed_author(grouped),
        icon_url=icon,
        image_url=_image(grouped, scope) or icon,
        updated_at=updated_at,
        updated_raw=updated_raw,
        ttl=ttl(grouped),
        update_period=update_period(grouped),
        skip_hours=skip_hours(grouped),
        skip_days=skip_days(grouped),
        hub_url=related_link(grouped, "hub", scope),
        self_url=related_link(grouped, "self", scope),
        entries=entries,
        format=form,
        encoding=encoding,
    )


def feed_link(grouped: Grouped, scope: Scope) -> str | None:
    return page_link(grouped, scope)


def feed_author(grouped: Grouped) -> str | None:
    return authors(grouped, *_AUTHORS)


def feed_format(root: str, attributes: Attributes, namespaces: set[str]) -> str:
    """A short name of the format that a root element announces."""
    namespace, _, local = root.rpartition("}")
    if local.lower() == "feed":
        return "atom03" if namespace == ATOM_03 or attributes.get("version") == "0.3" else "atom10"
    if local.lower() == "rdf":
        return "rss090" if RSS_090 in namespaces else "rss10"
    version = attributes.get("version", "").strip()
    return "rss" + {"2.0": "20", "2": "20", "2.0.1": "20"}.get(version, version.replace(".", "")[:4])


def _language(grouped: Grouped, scope: Scope) -> str | None:
    own = first_text(grouped, "language", "dc:language")
    return clean_language(own) if own else scope.language


def _image(grouped: Grouped, scope: Scope) -> str | None:
    return picture(grouped, scope, "image", "logo", "itunes:image", "googleplay:image")
