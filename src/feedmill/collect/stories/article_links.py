"""Finds the links by which an entry names its article, in a form in which equal links mean equal articles."""

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import Protocol

from feedmill.html.canonical_link import canonical_link
from feedmill.html.tags import decode_attribute
from feedmill.model.parsed_feed import Enclosure

MAX_OTHERS = 2
# An aggregator names the article in the first lines of its text.
_MAX_AGGREGATOR_TEXT = 4000
# Reddit writes `<a href="…">[link]</a>`, Hacker News `Article URL: <a href="…">`.
_AGGREGATED = re.compile(
    r"""(?:Article\ URL:\s*+<a\s[^<>]{0,100}?href="(?P<before>[^"<>\s]++)"|
    <a\s+href="(?P<inside>[^"<>\s]++)"[^<>]{0,100}+>\[link\]</a>)""",
    re.X,
)
# Parts of a path that are no name of an article: sections of sites and languages.
_SECTION = re.compile(
    r"""about|aktuell|archives?|articles?|authors?|blogs?|business|categor(?:y|ies)|comments|culture|default|
    entertainment|episodes?|events|feeds?|health|home|index|latest|life|lifestyle|list|live|local|main|media|money|news|
    opinion|pages?|podcasts?|politics|posts?|press|rss|science|sections?|shop|shows?|site|sports?|stor(?:y|ies)|tags?|
    tech|technology|topics?|travel|updates|users?|videos?|weather|world|[a-z]{2}(?:-[a-z]{2,4})?""",
    re.X,
)
# What follows one of these is the name of a list, not of an article.
_LIST = re.compile(r"authors?|categor(?:y|ies)|sections?|tags?|topics?|users?")


class LinkedEntry(Protocol):
    """The fields of an entry that may name its article."""

    @property
    def link(self) -> str | None: ...
    @property
    def content_html(self) -> str | None: ...
    @property
    def enclosures(self) -> tuple[Enclosure, ...]: ...


@dataclass(frozen=True, slots=True)
class ArticleLinks:
    """The canonical links that name an entry's article: the entry's own link, and others. Few entries have several."""

    own: str | None
    others: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        return (self.own, *self.others) if self.own else self.others

    @property
    def own_host(self) -> str | None:
        return self.own.split("/", 3)[2] if self.own else None

    def without(self, shared: Set[str]) -> "ArticleLinks":
        """The links but those that other entries have too."""
        if shared.isdisjoint(self.all):
            return self
        own = None if self.own in shared else self.own
        return ArticleLinks(own, tuple([link for link in self.others if link not in shared]))


def article_links(entry: LinkedEntry) -> ArticleLinks:
    """The links that name the entry's article; none that lead to the home page or a section of a site."""
    own = canonical_link(entry.link) if entry.link else ""
    others = dict.fromkeys(map(canonical_link, _other_urls(entry)))
    return ArticleLinks(
        own if names_article(own) else None,
        tuple([link for link in others if link != own and names_article(link)][:MAX_OTHERS]),
    )


def names_article(link: str) -> bool:
    """Whether a canonical link leads to one article, not to a site or a section of it."""
    if not link.startswith("https://"):
        return False
    path, _, query = link.partition("#")[0].partition("?")
    if any(character.isdigit() for character in query):
        return True
    segments = [segment for segment in path.lower().split("/")[3:] if segment]
    if len(segments) == 2 and _LIST.fullmatch(segments[0]):
        return False
    return not all(_SECTION.fullmatch(segment) for segment in segments)


def _other_urls(entry: LinkedEntry) -> Iterator[str]:
    """The article that an aggregator links to, and the file of a podcast."""
    head = (entry.content_html or "")[:_MAX_AGGREGATOR_TEXT]
    if "[link]" in head or "Article URL:" in head:
        for found in _AGGREGATED.finditer(head):
            yield decode_attribute(found["before"] or found["inside"])
    if media := media_url(entry):
        yield media


def media_url(entry: LinkedEntry) -> str | None:
    """The audio or video file of an entry."""
    for enclosure in entry.enclosures[:1]:
        if (enclosure.type or "").startswith(("audio/", "video/")):
            return enclosure.url
    return None
