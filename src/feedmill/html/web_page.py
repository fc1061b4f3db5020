"""Reads the links, title and meta values of a web page."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from feedmill.absolute_urls import absolute_url
from feedmill.html.base_url import find_base_url
from feedmill.html.plain_text import plain_text
from feedmill.html.tags import Tag, attributes, tags

# Links and titles are near the beginning; anything after this much is data.
MAX_PAGE_BYTES = 4_000_000
MAX_LINKS = 5_000
MAX_TITLE = 200

_CLOSING = re.compile(r"</(?:a|title)\b", re.I)


class PageLink(NamedTuple):
    """A `<link>`, `<a>` or `<area>`: the absolute URL and how the page describes it."""

    tag: str
    url: str
    rel: frozenset[str]
    type: str
    title: str


@dataclass(frozen=True)
class WebPage:
    """The parts of a page that discovery uses."""

    url: str
    html: str
    title: str = ""
    links: tuple[PageLink, ...] = ()
    meta: dict[str, str] = field(default_factory=dict)

    @property
    def generator(self) -> str:
        """The software that made the page, in lower case; empty if the page does not name it."""
        return self.meta.get("generator", "").lower()

    def linked(self, rel: str) -> str | None:
        """The first URL that the page links to with that `rel`, or None."""
        return next((link.url for link in self.links if rel in link.rel), None)


def read_page(html: str, url: str) -> WebPage:
    """Reads a page's links, title and meta values."""
    base = find_base_url(html, url)
    title = ""
    links: list[PageLink] = []
    meta: dict[str, str] = {}
    for tag in _opening_tags(html):
        if tag.name == "title":
            title = title or _text_inside(html, tag)
        elif tag.name == "meta":
            meta.update(_meta(html, tag, meta))
        elif len(links) < MAX_LINKS and (link := _link(html, tag, base)):
            links.append(link)
    return WebPage(url, html, title, tuple(links), meta)


def _opening_tags(html: str) -> Iterator[Tag]:
    names = {"title", "meta", "link", "a", "area"}
    return (tag for tag in tags(html) if tag.name in names and not tag.closing)


def _meta(html: str, tag: Tag, known: dict[str, str]) -> dict[str, str]:
    found = attributes(html, tag)
    name = (found.get("name") or found.get("property") or found.get("itemprop") or "").lower()
    return {name: found.get("content", "")} if name and name not in known else {}


def _link(html: str, tag: Tag, base: str | None) -> PageLink | None:
    found = attributes(html, tag)
    url = absolute_url(found.get("href", ""), base)
    if url is None:
        return None
    rel = frozenset(found.get("rel", "").lower().split())
    media_type = found.get("type", "").partition(";")[0].strip().lower()
    title = " ".join(found.get("title", "").split())[:MAX_TITLE]
    if not title and tag.name == "a":
        title = _text_inside(html, tag)
    return PageLink(tag.name, url, rel, media_type, title)


def _text_inside(html: str, tag: Tag) -> str:
    closing = _CLOSING.search(html, tag.end, tag.end + 2000)
    return plain_text(html[tag.end : closing.start() if closing else tag.end + MAX_TITLE], MAX_TITLE)
