"""Any feed document turned into a ParsedFeed. Pure: bytes in, values out, no network, no clock."""

import codecs
from collections.abc import Callable

from feedmill.collect.balance import balance
from feedmill.collect.decode import Decoded, decode
from feedmill.collect.formats.jsonfeed import read_json_feed
from feedmill.collect.formats.xmlfeed import read_xml_feed
from feedmill.collect.repair import number_references, repair
from feedmill.collect.sniff import is_binary, looks_like
from feedmill.collect.xml_tree import IllFormed, read_strictly, read_tolerantly
from feedmill.errors import NotAFeed
from feedmill.model.parsed import Enclosure, ParsedEntry, ParsedFeed

_START = 512

__all__ = ["Enclosure", "ParsedEntry", "ParsedFeed", "parse"]


def parse(data: bytes, *, content_type: str | None = None, url: str | None = None) -> ParsedFeed:
    """Read a feed of any format and encoding, however ill-formed; raise NotAFeed if it is none.

    `content_type` is the HTTP header with that name, `url` where the document came from.
    """
    return _read_at_once(data, url) or _read_with_care(data, content_type, url)


def _read_at_once(data: bytes, url: str | None) -> ParsedFeed | None:
    """The feed in a well-formed document in UTF-8, which is what most are; a successful reading is the proof."""
    if not data[:_START].removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"<"):
        return None
    return read_well_formed(Decoded(data.removeprefix(codecs.BOM_UTF8).lstrip(), "utf-8"), url)


def _read_with_care(data: bytes, content_type: str | None, url: str | None) -> ParsedFeed:
    decoded = decode(data, content_type)
    kind = "binary" if is_binary(data) else looks_like(decoded.utf8)
    feed = None
    if kind == "json":
        feed = read_json_feed(decoded.text, url, decoded.encoding)
    elif kind in ("xml", "text"):
        feed = read_well_formed(decoded, url) if decoded.encoding != "utf-8" else None
        feed = feed or read_ill_formed(decoded, url)
    if feed is None:
        raise NotAFeed(kind)
    return feed


def read_well_formed(document: Decoded, url: str | None) -> ParsedFeed | None:
    """The feed in a well-formed document, or None."""
    try:
        return read_xml_feed(read_strictly(document.utf8), url, document.encoding)
    except IllFormed:
        return None


def read_ill_formed(document: Decoded, url: str | None) -> ParsedFeed | None:
    """The feed in a document after its repair, or None if not even that shows one."""
    mended = _changed(document, repair)
    feed = read_well_formed(mended, url)
    if feed is None:
        mended = _changed(mended, balance)
        feed = read_well_formed(mended, url)
    return feed or read_recovered(_changed(mended, number_references), url)


def _changed(document: Decoded, change: Callable[[str], str]) -> Decoded:
    return Decoded(change(document.text).encode(), document.encoding)


def read_recovered(document: Decoded, url: str | None) -> ParsedFeed | None:
    """The feed in what lxml can recover of a document, or None."""
    root = read_tolerantly(document.utf8)
    return read_xml_feed(root, url, document.encoding) if root is not None else None
