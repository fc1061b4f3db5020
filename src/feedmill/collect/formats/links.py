"""Addresses: a feed's or entry's own page, and the links that Atom tells apart by `rel`."""

from feedmill.collect.fields import Field
from feedmill.collect.formats.grouping import Grouped, first_text
from feedmill.collect.formats.names import RDF_ABOUT, RDF_RESOURCE
from feedmill.collect.formats.scope import Scope

_HTML = frozenset({"", "html", "xhtml", "text/html", "application/xhtml+xml", "text/plain"})
_WEB = ("http://", "https://")


def page_link(grouped: Grouped, scope: Scope) -> str | None:
    """The address of the page: RSS's link, or Atom's link to an HTML alternate, or to any alternate."""
    fallback = None
    for field in grouped.get("link", ()):
        _, attributes, text, _ = field
        if not _is_alternate(attributes):
            continue
        address = _address(attributes, text)
        if address and attributes.get("type", "").lower() in _HTML:
            return scope.inside(attributes).resolve(address)
        fallback = fallback or (scope.inside(attributes).resolve(address) if address else None)
    return fallback


def related_link(grouped: Grouped, rel: str, scope: Scope) -> str | None:
    """The address of the first Atom link with this relation."""
    for field in links(grouped, rel):
        return scope.inside(field[1]).resolve(field[1]["href"])
    return None


def links(grouped: Grouped, rel: str) -> list[Field]:
    return [
        field for field in grouped.get("link", ()) if field[1].get("href") and rel in _relations(field[1])
    ]


def permalink(grouped: Grouped) -> str | None:
    """The guid of an RSS item, where it is an address and not said to be none."""
    for _, attributes, text, _ in grouped.get("guid", ()):
        if attributes.get("isPermaLink", attributes.get("ispermalink", "true")).lower() != "false" and is_web(text):
            return text
    return None


def web_address(grouped: Grouped, scope: Scope, *keys: str) -> str | None:
    """The first text under these names, as an address."""
    text = first_text(grouped, *keys)
    return scope.resolve(text) if text else None


def is_web(text: str) -> bool:
    return text[:8].lower().startswith(_WEB)


def _is_alternate(attributes: dict[str, str]) -> bool:
    return "rel" not in attributes or "alternate" in _relations(attributes)


def _relations(attributes: dict[str, str]) -> list[str]:
    return attributes.get("rel", "alternate").lower().split()


def _address(attributes: dict[str, str], text: str) -> str | None:
    if not attributes:
        return text or None
    return attributes.get("href") or attributes.get(RDF_RESOURCE) or attributes.get(RDF_ABOUT) or text or None
