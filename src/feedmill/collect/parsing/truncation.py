"""Detects documents that end too early, and finds their last complete entry.

Every function is linear in the length of the document.
"""

import json
import re
from collections.abc import Iterator
from typing import Any
from xml.parsers import expat

_PREFIX = r"(?:[A-Za-z_][\w.-]{0,40}:)?"
_ROOT = re.compile(rf"<{_PREFIX}(rss|feed|rdf|channel|entry|item)(?=[\s/>])", re.IGNORECASE)
_ENTRY = re.compile(rf"<(/?){_PREFIX}(?:item|entry)(?=[\s/>]|\Z)", re.IGNORECASE)
_SECTION = re.compile(r"<!\[CDATA\[|<!--", re.IGNORECASE)
_SPACE = re.compile(r"[ \t\r\n]*")
# Expat's errors for a document that ends inside an element or a CDATA section.
_ENDS_IN_ELEMENT = frozenset(
    expat.errors.codes[message]
    for message in (expat.errors.XML_ERROR_NO_ELEMENTS, expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION)
)
_DECODER = json.JSONDecoder(strict=False)


def is_truncated(text: str, utf8: bytes) -> bool:
    """Whether an ill-formed XML feed lacks its end. Both arguments are the same document."""
    markup = _without_sections(text)
    root = _ROOT.search(markup)
    if root is None:
        return False
    end = _last(re.compile(rf"</{_PREFIX}{root[1]}\s*>", re.IGNORECASE), markup)
    last_entry = max((found.start() for found in _ENTRY.finditer(markup) if not found[1]), default=-1)
    return end < last_entry or end < 0 or _ends_in_element(utf8)


def unfinished_entry(text: str) -> int | None:
    """The position of the entry in which a truncated document ends; None if it ends between entries."""
    section, last = text.rfind("<![CDATA["), None
    if section > text.rfind("]]>"):
        text = text[:section]
    for found in _ENTRY.finditer(_without_sections(text)):
        last = found
    return last.start() if last is not None and not last[1] else None


def read_truncated_json(text: str) -> dict[str, Any] | None:
    """The complete members of a truncated JSON object, and the complete ones of its `items`."""
    read: dict[str, Any] = {}
    position = _skip(text, 0)
    if not text.startswith("{", position):
        return None
    try:
        for key, value in _members(text, position + 1):
            read[key] = value
    except (ValueError, RecursionError):
        pass  # here the document ends
    return read


def _members(text: str, position: int) -> Iterator[tuple[str, Any]]:
    while True:
        key, position = _DECODER.raw_decode(text, _skip(text, position))
        if not isinstance(key, str):
            raise ValueError(f"no name at {position}")
        position = _after(text, position, ":")
        if key == "items" and text.startswith("[", position):
            items: list[Any] = []
            yield key, items
            position = _read_items(text, position + 1, items)
        else:
            value, position = _DECODER.raw_decode(text, position)
            yield key, value
        position = _after(text, position, ",")


def _read_items(text: str, position: int, items: list[Any]) -> int:
    """Adds the items of a list one by one and returns the position after the list."""
    position = _skip(text, position)
    while not text.startswith("]", position):
        item, position = _DECODER.raw_decode(text, position)
        items.append(item)
        position = _skip(text, position)
        if not text.startswith("]", position):
            position = _after(text, position, ",")
    return position + 1


def _after(text: str, position: int, sign: str) -> int:
    position = _skip(text, position)
    if not text.startswith(sign, position):
        raise ValueError(f"no {sign} at {position}")
    return _skip(text, position + 1)


def _skip(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    return space.end() if space else position


def _ends_in_element(utf8: bytes) -> bool:
    if utf8[1:2] == b"\0":  # expat takes it for UTF-16, even if an encoding is given
        return False
    parser = expat.ParserCreate("utf-8")
    parser.StartDoctypeDeclHandler = _stop
    try:
        parser.Parse(utf8, True)
    except expat.ExpatError as error:
        return error.code in _ENDS_IN_ELEMENT
    except StopIteration:
        return False
    return False


def _stop(*_: object) -> None:
    """Stops at a document type declaration, so that no entity is read."""
    raise StopIteration


def _without_sections(text: str) -> str:
    """The document with spaces in place of CDATA sections and comments; unclosed ones are kept."""
    parts, position = list[str](), 0
    endless = set[str]()
    for opening in _SECTION.finditer(text):
        closing = "-->" if opening[0] == "<!--" else "]]>"
        if opening.start() < position or closing in endless:
            continue
        end = text.find(closing, opening.end())
        if end < 0:
            endless.add(closing)
            continue
        parts += [text[position : opening.start()], " " * (end + 3 - opening.start())]
        position = end + 3
    return "".join([*parts, text[position:]])


def _last(pattern: re.Pattern[str], text: str) -> int:
    return max((found.start() for found in pattern.finditer(text)), default=-1)
