"""An RSS or Atom document read from its events to a ParsedFeed."""

from collections.abc import Callable
from dataclasses import replace

from feedmill.collect.fields import Attributes, Field, FieldReader, StopReading
from feedmill.collect.formats.entry import read_entry
from feedmill.collect.formats.feed import feed_author, feed_format, feed_link, read_feed
from feedmill.collect.formats.grouping import group
from feedmill.collect.formats.scope import Scope, scope_of
from feedmill.collect.xml_events import EventTarget
from feedmill.model.parsed import ParsedEntry, ParsedFeed

ReadEvents = Callable[[bytes, EventTarget], None]


class XmlFeed:
    """Reads one document: entries while its events come, the feed around them at the end."""

    def __init__(self, url: str | None) -> None:
        self._url = url
        self._entries: list[ParsedEntry] = []
        self._reader = FieldReader(self._add_entry)
        self._known: tuple[int, int] = (-1, -1)
        self._scope = Scope()
        self._author: str | None = None

    def read(self, read_events: ReadEvents, utf8: bytes, encoding: str) -> ParsedFeed | None:
        """The feed in a document, or None if there is none."""
        try:
            read_events(utf8, self._reader)
        except StopReading:
            pass
        self._reader.finish()
        root = self._reader.root
        if root is None:
            return None
        scope = scope_of(self._url, self._reader.feed_attributes)
        form = feed_format(*root, self._reader.namespaces())
        return read_feed(self._reader.feed_fields, scope, tuple(self._entries), form, encoding)

    def _add_entry(self, attributes: Attributes, fields: list[Field]) -> None:
        self._look_around()
        self._entries.append(read_entry(attributes, fields, self._scope, self._author))

    def _look_around(self) -> None:
        """Learn what the feed has said so far, if it said more since the last entry."""
        reader = self._reader
        known = (len(reader.feed_attributes), len(reader.feed_fields))
        if known == self._known:
            return
        self._known = known
        grouped = group(reader.feed_fields)
        scope = scope_of(self._url, reader.feed_attributes)
        if not scope.stated:
            scope = replace(scope, base=feed_link(grouped, scope) or scope.base)
        self._scope = scope
        self._author = feed_author({"author": grouped["author"]}) if "author" in grouped else None
