"""The rules of RFC 4287 (Atom) and RFC 5005 (paged feeds) that a document can break, each with its section."""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from xml.etree.ElementTree import Element, fromstring

ATOM = "{http://www.w3.org/2005/Atom}"
XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"

# RFC 3339 as section 3.3 narrows it: capital T and Z.
_DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)
_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+")
_MEDIA_TYPE = re.compile(r"[^\s/;]+/[^\s/;]+(\s*;.*)?")
_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")

FEED_CHILDREN = {"author", "category", "contributor", "entry", "generator", "icon", "id", "link", "logo", "rights"}
FEED_CHILDREN |= {"subtitle", "title", "updated"}
ENTRY_CHILDREN = {"author", "category", "content", "contributor", "id", "link", "published", "rights", "source"}
ENTRY_CHILDREN |= {"summary", "title", "updated"}
SOURCE_CHILDREN = FEED_CHILDREN - {"entry"}
# By element: what it has exactly once, and what at most once.
ONCE = {"feed": ("id", "title", "updated"), "entry": ("id", "title", "updated"), "source": ()}
AT_MOST_ONCE = {
    "feed": ("generator", "icon", "logo", "rights", "subtitle"),
    "entry": ("content", "published", "rights", "source", "summary"),
    "source": ("generator", "icon", "id", "logo", "rights", "subtitle", "title", "updated"),
}
CHILDREN = {"feed": FEED_CHILDREN, "entry": ENTRY_CHILDREN, "source": SOURCE_CHILDREN}


def atom_problems(document: bytes) -> list[str]:
    """What a feed document breaks; empty for a valid one."""
    root = fromstring(document)
    if root.tag != f"{ATOM}feed":
        return ["2: the document element is not atom:feed"]
    return [*_container(root), *_authors(root), *_identities(root), *_pages(root), *_every_element(root)]


def _container(element: Element) -> Iterator[str]:
    """4.1.1, 4.1.2 and 4.2.11: which elements a feed, an entry or a source has, and how often."""
    name = element.tag.removeprefix(ATOM)
    counts = Counter(child.tag.removeprefix(ATOM) for child in element)
    yield from (f"4.1: atom:{name} has {counts[each]} atom:{each}" for each in ONCE[name] if counts[each] != 1)
    yield from (f"4.1: atom:{name} has {counts[each]} atom:{each}" for each in AT_MOST_ONCE[name] if counts[each] > 1)
    yield from (f"4.1: atom:{name} has an atom:{each}" for each in counts if each not in CHILDREN[name])
    alternates = Counter(
        (link.get("type"), link.get("hreflang"))
        for link in element.iterfind(f"{ATOM}link")
        if _rel(link) == "alternate"
    )
    yield from (f"4.1: atom:{name} has {n} alternate links of {kind}" for kind, n in alternates.items() if n > 1)
    for child in element:
        if child.tag.removeprefix(ATOM) in CHILDREN:
            yield from _container(child)


def _authors(root: Element) -> Iterator[str]:
    """4.1.1 and 4.1.2: every entry has an author, its own or that of its source or of the feed."""
    if root.find(f"{ATOM}author") is not None:
        return
    entries = root.findall(f"{ATOM}entry")
    if not entries:
        yield "4.1.1: a feed without entries has no author"
    for entry in entries:
        if entry.find(f"{ATOM}author") is None and entry.find(f"{ATOM}source/{ATOM}author") is None:
            yield "4.1.2: an entry has no author"


def _identities(root: Element) -> Iterator[str]:
    """4.1.1 and 4.2.6: entries are told apart by their ids."""
    ids = Counter(entry.findtext(f"{ATOM}id") for entry in root.iterfind(f"{ATOM}entry"))
    yield from (f"4.1.1: {n} entries have the id {id}" for id, n in ids.items() if n > 1)
    for entry in root.iterfind(f"{ATOM}entry"):
        content = entry.find(f"{ATOM}content")
        has_alternate = any(_rel(link) == "alternate" for link in entry.iterfind(f"{ATOM}link"))
        if content is None and not has_alternate:
            yield "4.1.2: an entry without content has no alternate link"


def _pages(root: Element) -> Iterator[str]:
    """RFC 5005, section 3: links of paged feeds; and a self link, which section 4.1.1 asks for."""
    links = Counter(_rel(link) for link in root.iterfind(f"{ATOM}link"))
    yield from (
        f"RFC 5005, 3: {links[rel]} links {rel}" for rel in ("first", "last", "previous", "next") if links[rel] > 1
    )
    if links["self"] != 1:
        yield f"4.1.1: {links['self']} self links"


def _every_element(root: Element) -> Iterator[str]:
    for element in root.iter():
        name = element.tag.removeprefix(ATOM)
        if not element.tag.startswith(ATOM):
            yield f"6: {element.tag} is of another namespace"
        check = CHECKS.get(name)
        if check is not None:
            yield from check(element)
        if XML_LANG in element.attrib and not _LANGUAGE.fullmatch(element.attrib[XML_LANG]):
            yield f"2: xml:lang is {element.attrib[XML_LANG]!r}"


def _text_construct(element: Element) -> Iterator[str]:
    """3.1: text and HTML have no child elements."""
    if element.get("type", "text") not in ("text", "html"):
        yield f"3.1: type is {element.get('type')}"
    if len(element):
        yield "3.1: a text construct has child elements"


def _date(element: Element) -> Iterator[str]:
    """3.3."""
    text = element.text or ""
    if not _DATE.fullmatch(text):
        yield f"3.3: {text!r} is no date"
    else:
        datetime.fromisoformat(text)


def _person(element: Element) -> Iterator[str]:
    """3.2: one name, at most one URI and one e-mail address."""
    counts = Counter(child.tag.removeprefix(ATOM) for child in element)
    if counts["name"] != 1 or not (element.findtext(f"{ATOM}name") or "").strip():
        yield "3.2: a person has no name"


def _id(element: Element) -> Iterator[str]:
    """4.2.6: an absolute IRI."""
    if not _IRI.fullmatch(element.text or ""):
        yield f"4.2.6: the id {element.text!r} is no absolute IRI"


def _link(element: Element) -> Iterator[str]:
    """4.2.7."""
    if not _IRI.fullmatch(element.get("href", "")):
        yield f"4.2.7.1: href is {element.get('href')!r}"
    if not element.get("rel", "alternate"):
        yield "4.2.7.2: rel is empty"
    if "type" in element.attrib and not _MEDIA_TYPE.fullmatch(element.attrib["type"]):
        yield f"4.2.7.3: type is {element.attrib['type']!r}"
    if not element.get("length", "0").isdigit():
        yield f"4.2.7.6: length is {element.get('length')!r}"


def _content(element: Element) -> Iterator[str]:
    """4.1.3.3: HTML is escaped text."""
    if element.get("type") != "html" or len(element) or "src" in element.attrib:
        yield "4.1.3: content is not escaped HTML"


def _category(element: Element) -> Iterator[str]:
    """4.2.2: a category has a term."""
    if "term" not in element.attrib:
        yield "4.2.2: a category has no term"


def _generator(element: Element) -> Iterator[str]:
    """4.2.4."""
    if not (element.text or "").strip() or not _IRI.fullmatch(element.get("uri", "")):
        yield "4.2.4: generator"


def _rel(link: Element) -> str:
    return link.get("rel", "alternate")


CHECKS = {
    "title": _text_construct,
    "subtitle": _text_construct,
    "summary": _text_construct,
    "rights": _text_construct,
    "updated": _date,
    "published": _date,
    "author": _person,
    "contributor": _person,
    "id": _id,
    "link": _link,
    "content": _content,
    "category": _category,
    "generator": _generator,
}
