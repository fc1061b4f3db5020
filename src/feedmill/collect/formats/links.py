"""Addresses: a feed's or entry's own page, and the links that Atom tells apart by `rel`."""

from functools import lru_cache

from feedmill.collect.fields import Fields
from feedmill.collect.formats.grouping import first_text
from feedmill.collect.formats.names import RDF_ABOUT, RDF_RESOURCE
from feedmill.collect.formats.scope import Scope
from feedmill.collect.xml_tree import Attributes

Related = dict[str, list[Attributes]]

_REGISTRY = "http://www.iana.org/assignments/relation/"
_MAX_RELATIONS = 1_000
_HTML = frozenset({"", "html", "xhtml", "text/html", "application/xhtml+xml", "text/plain"})


def page_link(fields: Fields, scope: Scope) -> str | None:
    """The address of the page: RSS's link, or Atom's link to an HTML alternate, or to any alternate."""
    if fields.plain.get("link"):
        return scope.resolve(fields.plain["link"])
    fallback = None
    for attributes, text, _ in fields.rich.get("link", ()):
        address = _alternate(attributes, text)
        if not address:
            continue
        if attributes.get("type", "").lower() in _HTML:
            return scope.inside(attributes).resolve(address)
        fallback = fallback or scope.inside(attributes).resolve(address)
    return fallback


def _alternate(attributes: Attributes, text: str) -> str | None:
    if "rel" in attributes and "alternate" not in _relations(attributes["rel"]):
        return None
    if text and is_web(text):
        return text
    return attributes.get("href") or attributes.get(RDF_RESOURCE) or attributes.get(RDF_ABOUT) or text


def related_links(fields: Fields) -> Related:
    """The links that are more than the page itself, by their relation."""
    found: Related = {}
    for attributes, _, _ in fields.rich.get("link", ()):
        if attributes.get("rel", "alternate") != "alternate" and attributes.get("href"):
            for relation in _relations(attributes["rel"]):
                found.setdefault(relation, []).append(attributes)
    return found


def related_link(related: Related, relation: str, scope: Scope) -> str | None:
    """The address of the first link with this relation, an HTML page if there is one."""
    if relation not in related:
        return None
    found = sorted(related[relation], key=lambda attributes: attributes.get("type", "") not in _HTML)
    return scope.inside(found[0]).resolve(found[0]["href"])


@lru_cache(maxsize=256)
def _relations(written: str) -> tuple[str, ...]:
    return tuple(written[:_MAX_RELATIONS].lower().replace(_REGISTRY, "").split())


def permalink(fields: Fields) -> str | None:
    """The guid of an RSS item, where it is an address and not said to be none."""
    for attributes, text, _ in fields.get("guid"):
        said = attributes.get("isPermaLink", attributes.get("ispermalink", "true"))
        if said.strip().lower() != "false" and is_web(text):
            return text
    return None


def web_address(fields: Fields, scope: Scope, name: str) -> str | None:
    """The first text under a name, as an address."""
    text = first_text(fields, name)
    return scope.resolve(text) if text else None


def is_web(text: str) -> bool:
    return text[:8].lower().startswith(("http://", "https://"))
