"""Reads from a web page what discovery needs: its links, its title and which software made it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from feedmill.collect.decode import decode
from feedmill.collect.html import page_base, plain_text
from feedmill.collect.links import absolute
from feedmill.collect.tags import Tag, attributes, tags

# Links and titles stand at the beginning; what comes after this much is a data dump.
MAX_BYTES = 4_000_000
MAX_LINKS = 5_000
MAX_TITLE = 200

_META_CHARSET = re.compile(rb"<meta[^>]{0,500}?charset\s*=\s*[\"']?\s*([A-Za-z0-9._:-]+)", re.I)
_PRESCAN = 4096
_CLOSING = re.compile(r"</(?:a|title)\b", re.I)


class Link(NamedTuple):
    """A `<link>` or `<a>`: the absolute address and how the page describes it."""

    tag: str
    url: str
    rel: frozenset[str]
    type: str
    title: str


@dataclass(frozen=True)
class Page:
    """A page as discovery sees it."""

    url: str
    html: str
    title: str = ""
    links: tuple[Link, ...] = ()
    meta: dict[str, str] = field(default_factory=dict)

    @property
    def generator(self) -> str:
        """The software that made the page, in lower case, or the empty string."""
        return self.meta.get("generator", "").lower()

    def linked(self, rel: str) -> str | None:
        """The first address that the page names with that relation, or None."""
        return next((link.url for link in self.links if rel in link.rel), None)


def read_page(data: bytes, *, content_type: str | None, url: str) -> Page:
    """Reads a page's links, title and meta values."""
    html = decode_page(data[:MAX_BYTES], content_type)
    base = page_base(html, url)
    title = ""
    links: list[Link] = []
    meta: dict[str, str] = {}
    for tag in _opening_tags(html):
        if tag.name == "title":
            title = title or _text_inside(html, tag)
        elif tag.name == "meta":
            meta.update(_meta(html, tag, meta))
        elif len(links) < MAX_LINKS and (link := _link(html, tag, base)):
            links.append(link)
    return Page(url, html, title, tuple(links), meta)


def decode_page(data: bytes, content_type: str | None) -> str:
    """Decodes a page by the rules for feeds, with `<meta charset>` where HTTP names no encoding."""
    declared = _META_CHARSET.search(data, 0, _PRESCAN)
    if declared and "charset" not in (content_type or "").lower():
        content_type = f"text/html; charset={declared[1].decode('ascii')}"
    return decode(data, content_type).text


def _opening_tags(html: str) -> Iterator[Tag]:
    wanted = {"title", "meta", "link", "a", "area"}
    return (tag for tag in tags(html) if tag.name in wanted and not tag.closing)


def _meta(html: str, tag: Tag, known: dict[str, str]) -> dict[str, str]:
    found = attributes(html, tag)
    name = (found.get("name") or found.get("property") or found.get("itemprop") or "").lower()
    return {name: found.get("content", "")} if name and name not in known else {}


def _link(html: str, tag: Tag, base: str | None) -> Link | None:
    found = attributes(html, tag)
    url = absolute(found.get("href", ""), base)
    if url is None:
        return None
    rel = frozenset(found.get("rel", "").lower().split())
    media_type = found.get("type", "").partition(";")[0].strip().lower()
    title = " ".join(found.get("title", "").split())[:MAX_TITLE]
    if not title and tag.name == "a":
        title = _text_inside(html, tag)
    return Link(tag.name, url, rel, media_type, title)


def _text_inside(html: str, tag: Tag) -> str:
    closing = _CLOSING.search(html, tag.end, tag.end + 2000)
    return plain_text(html[tag.end : closing.start() if closing else tag.end + MAX_TITLE], MAX_TITLE)
