"""Reads an RSS, Atom or CDF tree into a `ParsedFeed`."""

from collections.abc import Iterator
from itertools import islice
from xml.etree.ElementTree import Element

from feedmill.collect.parsing.formats.authors import authors
from feedmill.collect.parsing.formats.cdf import CDF, rewrite_cdf
from feedmill.collect.parsing.formats.child_elements import Fields
from feedmill.collect.parsing.formats.choose_entry_elements import place_groups
from feedmill.collect.parsing.formats.element_layout import layouts_below
from feedmill.collect.parsing.formats.element_names import ENTRIES, FRAMES, RDF_ABOUT, opens_feed, split_name
from feedmill.collect.parsing.formats.entry import read_entry
from feedmill.collect.parsing.formats.feed import FeedDocument, feed_format, read_feed
from feedmill.collect.parsing.formats.field_texts import clip_text
from feedmill.collect.parsing.formats.flatten_elements import FieldReader
from feedmill.collect.parsing.formats.links import group_by_relation, is_web_url, page_link
from feedmill.collect.parsing.formats.xml_scope import XmlScope, scope_of
from feedmill.collect.parsing.xml_tree import Attributes, attributes_of
from feedmill.model.parsed_feed import ParsedEntry, ParsedFeed

MAX_ENTRIES = 20_000
_MAX_PROLOGUE = 100
_MAX_FRAMES = 10


def read_xml_feed(root: Element, url: str | None, encoding: str) -> ParsedFeed | None:
    """The feed in a document, or None if there is none."""
    opening = next((node for node in islice(root.iter(), _MAX_PROLOGUE) if opens_feed(node.tag)), None)
    if opening is None:
        return None
    if opening.tag.isupper():
        _lower_attributes(opening)
    form = feed_format(opening)
    if form == CDF:
        rewrite_cdf(opening)
    return _XmlFeed(opening, url, form).read(encoding)


def _lower_attributes(root: Element) -> None:
    """Lower-cases the attributes of a feed in capitals; element names are case-insensitive anyway."""
    for element in root.iter():
        for key, value in list(attributes_of(element).items()):
            element.set(key.lower(), value)


class _XmlFeed:
    """Reads one document: the fields of the feed, and its entries, which inherit from the feed."""

    def __init__(self, root: Element, url: str | None, form: str) -> None:
        self._root = root
        self._url = url
        layouts = layouts_below(split_name(root.tag)[0])
        self._names = layouts.names
        self._reader = FieldReader(layouts)
        self._frames: list[Attributes] = []
        self._form = form
        self._feed_fields = Element("feed")
        self._entries: list[Element] = []

    def read(self, encoding: str) -> ParsedFeed:
        if self._names[self._root.tag] in ENTRIES:
            self._entries.append(self._root)
        else:
            self._separate(self._root, 0)
        scope = scope_of(self._url, self._frames)
        fields = self._reader.read(self._feed_fields)
        related = group_by_relation(fields.get("link"))
        link = page_link(related, scope)
        inner = scope._replace(base=link) if link and is_web_url(link) and not scope.stated else scope
        entries = tuple(islice(self._read_entries(inner, self._common_author(fields)), MAX_ENTRIES))
        return read_feed(fields, related, link, inner, entries, FeedDocument(self._form, encoding, self._about()))

    def _separate(self, frame: Element, depth: int) -> None:
        """Separates the entries from the fields of the feed; in RSS 1.0 the entries are siblings of the channel."""
        self._frames.append(attributes_of(frame))
        own = []
        for child in frame:
            name = self._names[child.tag]
            if name in ENTRIES:
                self._entries.append(child)
            elif name in FRAMES and depth < _MAX_FRAMES:
                self._separate(child, depth + 1)
            elif name:
                own.append(child)
        self._feed_fields.extend(own)

    def _about(self) -> str | None:
        """The rdf:about of an RSS 1.0 channel, clipped; None in other formats."""
        return next((clip_text(about) for frame in self._frames if (about := frame.get(RDF_ABOUT))), None)

    def _common_author(self, fields: Fields) -> str | None:
        """The author of entries that name none: in Atom the feed's author."""
        return (
            authors(fields, place_groups(fields.layout.places, ("author",))) if self._form.startswith("atom") else None
        )

    def _read_entries(self, scope: XmlScope, author: str | None) -> Iterator[ParsedEntry]:
        strays = self._reader.strays
        for entry in self._entries:
            yield read_entry(attributes_of(entry), self._reader.read(entry), scope, author)
            while strays:
                stray = strays.popleft()
                yield read_entry(attributes_of(stray), self._reader.read(stray), scope, author)
