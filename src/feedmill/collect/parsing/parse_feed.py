"""Parses a feed of any format and encoding, however ill-formed. Pure."""

import codecs
from collections.abc import Callable

import msgspec

from feedmill.collect.parsing.balance_tags import balance
from feedmill.collect.parsing.decode import Decoded, decode
from feedmill.collect.parsing.formats.jsonfeed import read_json_feed
from feedmill.collect.parsing.formats.xmlfeed import read_xml_feed
from feedmill.collect.parsing.repair import number_references, repair
from feedmill.collect.parsing.sniff_content import content_kind, is_binary
from feedmill.collect.parsing.truncation import is_truncated, unfinished_entry
from feedmill.collect.parsing.xml_tree import IllFormed, read_strictly, read_tolerantly
from feedmill.errors import NotAFeed
from feedmill.model.parsed_feed import Enclosure, ParsedEntry, ParsedFeed

_START = 512

__all__ = ["Enclosure", "ParsedEntry", "ParsedFeed", "parse_feed", "parse_well_formed_utf8"]


def parse_feed(data: bytes, *, content_type: str | None = None, url: str | None = None) -> ParsedFeed:
    """Parses a feed of any format and encoding, however ill-formed; raises `NotAFeed`.

    `content_type` is the HTTP header, `url` the URL of the document. The entry in which a truncated document ends is
    left out, because its text would be taken for complete.
    """
    return parse_well_formed_utf8(data, url) or _read_any(data, content_type, url)


def parse_well_formed_utf8(data: bytes, url: str | None) -> ParsedFeed | None:
    """The feed in a well-formed document in UTF-8, as most are; None for any other document."""
    if not data[:_START].removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"<"):
        return None
    return read_well_formed(Decoded(data.removeprefix(codecs.BOM_UTF8).lstrip(), "utf-8"), url)


def _read_any(data: bytes, content_type: str | None, url: str | None) -> ParsedFeed:
    decoded = decode(data, content_type)
    kind = "binary" if is_binary(data) else content_kind(decoded.utf8)
    feed = None
    if kind == "json":
        feed = read_json_feed(decoded.text, url, decoded.encoding)
    elif kind in ("xml", "text"):
        feed = read_well_formed(decoded, url) if decoded.encoding != "utf-8" else None
        feed = feed or _read_broken(decoded, url)
    if feed is None:
        raise NotAFeed(kind)
    return feed


def read_well_formed(document: Decoded, url: str | None) -> ParsedFeed | None:
    """The feed in a well-formed document, or None."""
    try:
        return read_xml_feed(read_strictly(document.utf8), url, document.encoding)
    except IllFormed:
        return None


def _read_broken(document: Decoded, url: str | None) -> ParsedFeed | None:
    """The feed in an ill-formed document, marked as truncated if it is."""
    complete = _without_unfinished_entry(document)
    if complete is None:
        return read_ill_formed(document, url)
    feed = read_ill_formed(complete, url)
    return feed and msgspec.structs.replace(feed, is_truncated=True)


def _without_unfinished_entry(document: Decoded) -> Decoded | None:
    """A truncated document without the entry in which it ends; None if it is not truncated."""
    text = document.text
    if not is_truncated(text, document.utf8):
        return None
    start = unfinished_entry(text)
    return document if start is None else Decoded(text[:start].encode(), document.encoding)


def read_ill_formed(document: Decoded, url: str | None) -> ParsedFeed | None:
    """The feed in a document after repair, or None."""
    repaired = _changed(document, repair)
    feed = read_well_formed(repaired, url)
    if feed is None:
        repaired = _changed(repaired, balance)
        feed = read_well_formed(repaired, url)
    return feed or read_recovered(_changed(repaired, number_references), url)


def _changed(document: Decoded, change: Callable[[str], str]) -> Decoded:
    return Decoded(change(document.text).encode(), document.encoding)


def read_recovered(document: Decoded, url: str | None) -> ParsedFeed | None:
    """The feed in what lxml recovers of a document, or None."""
    root = read_tolerantly(document.utf8)
    return read_xml_feed(root, url, document.encoding) if root is not None else None
