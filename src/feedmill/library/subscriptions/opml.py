"""Reads OPML, also malformed, and writes it."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import format_datetime
from html import escape

from feedmill.absolute_urls import absolute_url
from feedmill.collect.parsing.decode import decode
from feedmill.html.tags import XML, Tag, attributes, decode_text, is_self_closing, tags
from feedmill.i18n.messages import Message

MAX_BYTES = 16_000_000
MAX_FEEDS = 100_000
MAX_ERRORS = 1_000
MAX_DEPTH = 20
MAX_TITLE = 500

_FEED_ADDRESS = ("xmlurl", "xml_url", "feedurl", "feed_url", "rssurl", "url")
_SITE_ADDRESS = ("htmlurl", "html_url", "siteurl", "site_url", "weburl")
_NAME = ("text", "title", "name")
_FEED_TYPES = frozenset({"rss", "rss1", "rss2", "atom", "rdf", "feed", "pie", "jsonfeed"})
_LINK_TYPES = frozenset({"link", "include"})
_ENTITY = re.compile(r"<!ENTITY\b", re.I)
_OUTLINE = re.compile(r"<outline(?=[\s/>])", re.I)
_ANY_OPML = re.compile(r"<(?:opml|outline)(?=[\s/>])", re.I)
_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


OutlinePath = tuple[str, ...]


@dataclass(frozen=True)
class OpmlFeed:
    """A feed in a subscription list; `folder` is the path to it, empty at the top.

    `title` is empty and `site_url` None if the file does not have them.
    """

    url: str
    title: str = ""
    site_url: str | None = None
    folder: OutlinePath = ()


@dataclass(frozen=True)
class OpmlError:
    """Something that could not be read, and its line."""

    line: int
    message: Message


@dataclass
class OpmlDocument:
    """The feeds that could be read, and the errors."""

    title: str = ""
    feeds: list[OpmlFeed] = field(default_factory=list)
    errors: list[OpmlError] = field(default_factory=list)


def read_opml(data: bytes) -> OpmlDocument:
    """Reads as many feeds as possible. A feed in two folders is listed twice; twice in one folder is an error."""
    text = decode(data[:MAX_BYTES]).text
    reader = _Reader(text)
    if entity := _ENTITY.search(text):
        reader.report(entity.start(), Message("opml.entities"))
        return reader.document
    reader.read()
    if len(data) > MAX_BYTES:
        reader.conclude(len(text), Message("opml.cut", megabytes=MAX_BYTES // 1_000_000))
    return reader.document


def write_opml(feeds: Iterable[OpmlFeed], *, title: str, created_at: datetime | None = None) -> bytes:
    """Writes a subscription list in OPML 2.0; for a feed in several folders, pass it once for each."""
    root = _Folder()
    for feed in feeds:
        names = (_clean(name) for name in feed.folder)
        root.at(tuple(name for name in names if name)[:MAX_DEPTH]).feeds.append(feed)
    created = f"<dateCreated>{format_datetime(created_at)}</dateCreated>" if created_at else ""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<opml version="2.0">',
        f"<head><title>{escape(_clean(title))}</title>{created}</head>",
        "<body>",
        *root.lines(),
        "</body>",
        "</opml>\n",
    ]
    return "\n".join(lines).encode()


class _Reader:
    """Reads the outlines in one pass, with the path of the current folder."""

    def __init__(self, text: str) -> None:
        self.document = OpmlDocument()
        self._text = text
        self._open: list[OutlinePath] = []
        self._first_line: dict[tuple[str, OutlinePath], int] = {}
        self._line = 1
        self._counted = 0

    def report(self, position: int, message: Message) -> None:
        if len(self.document.errors) < MAX_ERRORS:
            self.conclude(position, message)

    def conclude(self, position: int, message: Message) -> None:
        """Adds errors of the whole file, also beyond the maximum number of errors."""
        self.document.errors.append(OpmlError(self._line_at(position), message))

    def read(self) -> None:
        if not _ANY_OPML.search(self._text):
            self.conclude(0, Message("opml.no_outlines"))
            return
        position = self._read_from(0)
        resumed = 0
        while position is not None and resumed < MAX_ERRORS:
            position = self._read_from(position)
            resumed += 1
        if position is not None:
            self.conclude(position, Message("opml.too_broken"))
        if self._open:
            self.conclude(len(self._text), Message("opml.left_open", n=len(self._open)))

    def _read_from(self, start: int) -> int | None:
        """The position after an outline that can't be read, or None at the end."""
        for tag in tags(self._text, XML, start):
            if resume := self._end_of_broken(tag):
                self.report(tag.start, Message("opml.broken_outline"))
                return resume
            if len(self.document.feeds) == MAX_FEEDS and tag.name == "outline" and not tag.closing:
                self.conclude(tag.start, Message("opml.too_many_feeds", most=MAX_FEEDS))
                return None
            self._take(tag)
        return None

    def _end_of_broken(self, tag: Tag) -> int | None:
        """Where to continue after an outline without its closing quote or bracket; None if it has both."""
        begun = _OUTLINE.match(self._text, tag.start)
        if begun is None:
            return None
        unfinished = tag.name == "!"
        following = _OUTLINE.search(self._text, begun.end(), len(self._text) if unfinished else tag.end)
        if following:
            return following.start()
        return len(self._text) if unfinished else None

    def _take(self, tag: Tag) -> None:
        if tag.name == "title" and not tag.closing and not self.document.title:
            self.document.title = _clean(decode_text(self._text[tag.end : self._text.find("<", tag.end)]))
        elif tag.name == "outline" and not tag.closing:
            path = self._take_outline(tag.start, attributes(self._text, tag))
            if not is_self_closing(self._text, tag):
                self._open.append(path)
        elif tag.name == "outline" and self._open:
            self._open.pop()
        elif tag.name == "outline":
            self.report(tag.start, Message("opml.not_open"))

    def _take_outline(self, position: int, found: dict[str, str]) -> OutlinePath:
        """The folder of the outlines inside this one."""
        folder = self._open[-1] if self._open else ()
        name = _clean(_first(found, _NAME))
        kind = found.get("type", "").strip().lower()
        address = _first(found, _FEED_ADDRESS)
        if kind in _LINK_TYPES and "xmlurl" not in found:
            self.report(position, Message("opml.link", name=name))
        elif address:
            self._take_feed(position, address, name, folder or _category(found), found)
        elif kind in _FEED_TYPES or _first(found, _SITE_ADDRESS):
            self.report(position, Message("opml.no_url", name=name))
        else:
            return _inside(folder, name)
        return folder

    def _take_feed(self, position: int, address: str, name: str, folder: OutlinePath, found: dict[str, str]) -> None:
        url = absolute_url(address)
        if url is None:
            self.report(position, Message("opml.bad_url", name=name, url=address[:200]))
            return
        if first_line := self._first_line.get((url, folder)):
            self.report(position, Message("opml.repeated", name=name, line=first_line, url=url))
            return
        self._first_line[url, folder] = self._line_at(position)
        site_url = absolute_url(_first(found, _SITE_ADDRESS))
        self.document.feeds.append(OpmlFeed(url, "" if name == url else name, site_url, folder))

    def _line_at(self, position: int) -> int:
        self._line += self._text.count("\n", self._counted, position)
        self._counted = max(self._counted, position)
        return self._line


@dataclass
class _Folder:
    feeds: list[OpmlFeed] = field(default_factory=list)
    folders: "dict[str, _Folder]" = field(default_factory=dict)

    def at(self, path: OutlinePath) -> "_Folder":
        folder = self
        for name in path:
            folder = folder.folders.setdefault(name, _Folder())
        return folder

    def lines(self) -> Iterator[str]:
        yield from map(_feed_line, self.feeds)
        for name, folder in self.folders.items():
            yield f"<outline{_attribute('text', name)}{_attribute('title', name)}>"
            yield from folder.lines()
            yield "</outline>"


def _feed_line(feed: OpmlFeed) -> str:
    name = _clean(feed.title) or feed.url
    site = _attribute("htmlUrl", feed.site_url) if feed.site_url else ""
    text = _attribute("text", name) + _attribute("title", name)
    return f'<outline type="rss"{text}{_attribute("xmlUrl", feed.url)}{site}/>'


def _attribute(name: str, value: str) -> str:
    return f' {name}="{escape(value)}"'


def _inside(folder: OutlinePath, name: str) -> OutlinePath:
    return (*folder, name)[:MAX_DEPTH] if name else folder


def _category(found: dict[str, str]) -> OutlinePath:
    """The first of `category="/Boston/Weather,Tech"`, used as the folder if there is none."""
    names = map(_clean, found.get("category", "").partition(",")[0].split("/"))
    return tuple(name for name in names if name)[:MAX_DEPTH]


def _first(found: dict[str, str], names: tuple[str, ...]) -> str:
    return next((found[name] for name in names if found.get(name, "").strip()), "")


def _clean(text: str) -> str:
    return " ".join(_NOT_IN_XML.sub("", text).split())[:MAX_TITLE].rstrip()
