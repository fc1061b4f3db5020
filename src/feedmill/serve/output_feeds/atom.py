"""Writes an output feed as Atom (RFC 4287), with the links of paged feeds (RFC 5005)."""

import re
from xml.etree.ElementTree import Element, SubElement, tostring

from feedmill import __version__
from feedmill.library.output_feeds.read_page import OutputEntry
from feedmill.model.parsed_feed import Enclosure
from feedmill.model.timestamps import to_iso
from feedmill.serve.output_feeds.document import GENERATOR, GENERATOR_URL, OutputDocument

MEDIA_TYPE = "application/atom+xml"
NAMESPACE = "http://www.w3.org/2005/Atom"
# Characters that no XML document may have.
_NOT_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_MEDIA_TYPE = re.compile(r"[\w.+-]{1,100}/[\w.+-]{1,100}", re.ASCII)
_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8}){0,6}")


def write_atom(document: OutputDocument) -> bytes:
    """The document in UTF-8."""
    root = Element("feed", xmlns=NAMESPACE)
    _text(root, "id", document.id)
    _text(root, "title", document.title)
    _text(root, "updated", to_iso(document.updated_at))
    # For a feed without entries; each entry has an author of its own.
    _text(SubElement(root, "author"), "name", GENERATOR)
    _text(root, "generator", GENERATOR).attrib.update(uri=GENERATOR_URL, version=__version__)
    _link(root, "self", document.self_url, MEDIA_TYPE)
    _link(root, "alternate", document.home_url, "text/html")
    if document.next_url or document.self_url != document.address.url:
        _link(root, "first", document.address.url, MEDIA_TYPE)
    if document.next_url:
        _link(root, "next", document.next_url, MEDIA_TYPE)
    if document.hub_url:
        _link(root, "hub", document.hub_url)
    for entry in document.entries:
        _entry(root, entry)
    written: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return written


def _entry(root: Element, entry: OutputEntry) -> None:
    element = SubElement(root, "entry")
    if entry.language and _LANGUAGE.fullmatch(entry.language):
        element.set("xml:lang", entry.language)
    _text(element, "id", entry.id)
    _text(element, "title", entry.title)
    _text(element, "updated", to_iso(entry.updated_at))
    if entry.published_at:
        _text(element, "published", to_iso(entry.published_at))
    _text(SubElement(element, "author"), "name", entry.author)
    if entry.link:
        _link(element, "alternate", entry.link)
    if entry.comments_url:
        _link(element, "replies", entry.comments_url, "text/html")
    for each in entry.enclosures:
        _enclosure(element, each)
    for category in entry.categories:
        SubElement(element, "category", term=_clean(category))
    _source(element, entry)
    _text(element, "content", entry.html).set("type", "html")


def _source(element: Element, entry: OutputEntry) -> None:
    source = SubElement(element, "source")
    _text(source, "id", entry.source.id)
    _text(source, "title", entry.source.title)
    if entry.source.site_url:
        _link(source, "alternate", entry.source.site_url, "text/html")


def _enclosure(element: Element, enclosure: Enclosure) -> None:
    type = enclosure.type if enclosure.type and _MEDIA_TYPE.fullmatch(enclosure.type) else ""
    link = _link(element, "enclosure", enclosure.url, type)
    if enclosure.length is not None and enclosure.length >= 0:
        link.set("length", str(enclosure.length))


def _link(parent: Element, rel: str, href: str, type: str = "") -> Element:
    link = SubElement(parent, "link", rel=rel, href=_clean(href))
    if type:
        link.set("type", type)
    return link


def _text(parent: Element, name: str, text: str) -> Element:
    element = SubElement(parent, name)
    element.text = _clean(text)
    return element


def _clean(text: str) -> str:
    return _NOT_XML.sub("", text)
