"""Reads the links of a feed or entry: its page, and Atom links by `rel`."""

from collections.abc import Iterable
from functools import lru_cache
from xml.etree.ElementTree import Element

from feedmill.collect.parsing.formats.child_elements import Fields
from feedmill.collect.parsing.formats.element_names import RDF_ABOUT, RDF_RESOURCE
from feedmill.collect.parsing.formats.field_texts import element_text, first_text
from feedmill.collect.parsing.formats.xml_scope import WEB, XmlScope
from feedmill.collect.parsing.xml_tree import attributes_of

LinksByRelation = dict[str, list[Element]]

_REGISTRY = "http://www.iana.org/assignments/relation/"
_MAX_RELATIONS = 1_000
_HTML = frozenset({"", "html", "xhtml", "text/html", "application/xhtml+xml", "text/plain"})


def group_by_relation(links: Iterable[Element]) -> LinksByRelation:
    """Links by relation; one without a relation is an "alternate"."""
    found: LinksByRelation = {}
    for link in links:
        for relation in _relations(link.get("rel", "alternate")):
            found.setdefault(relation, []).append(link)
    return found


def page_link(related: LinksByRelation, scope: XmlScope) -> str | None:
    """The URL of the page: RSS's link, else Atom's HTML alternate, else any alternate."""
    fallback = None
    for link in related.get("alternate", ()):
        address = _address(link)
        if not address:
            continue
        if link.get("type", "").lower() in _HTML:
            return resolve_in(link, address, scope)
        fallback = fallback or resolve_in(link, address, scope)
    return fallback


def _address(link: Element) -> str | None:
    text = element_text(link)
    if text and is_web_url(text):
        return text
    return link.get("href") or link.get(RDF_RESOURCE) or link.get(RDF_ABOUT) or text


def resolve_in(element: Element, address: str, scope: XmlScope) -> str:
    """Resolves a URL in an element, which may have an xml:base of its own."""
    return (scope if address.startswith(WEB) else scope.inside(attributes_of(element))).resolve(address)


def related_link(related: LinksByRelation, relation: str, scope: XmlScope) -> str | None:
    """The URL of the first link with this relation, an HTML page if there is one."""
    found = [link for link in related.get(relation, ()) if link.get("href")]
    if not found:
        return None
    best = min(found, key=lambda link: link.get("type", "") not in _HTML)
    return resolve_in(best, best.get("href", ""), scope)


@lru_cache(maxsize=256)
def _relations(rel: str) -> tuple[str, ...]:
    return tuple(rel[:_MAX_RELATIONS].lower().replace(_REGISTRY, "").split())


def permalink(fields: Fields) -> str | None:
    """The guid of an RSS item if it is a URL and not declared otherwise (isPermaLink)."""
    for guid in fields.get("guid"):
        is_permalink = guid.get("isPermaLink", guid.get("ispermalink", "true"))
        text = element_text(guid)
        if is_permalink.strip().lower() != "false" and is_web_url(text):
            return text
    return None


def web_address(fields: Fields, scope: XmlScope, name: str) -> str | None:
    """The first text of a name, as an absolute URL."""
    text = first_text(fields, name)
    return scope.resolve(text) if text else None


def is_web_url(text: str) -> bool:
    return text[:8].lower().startswith(("http://", "https://"))
