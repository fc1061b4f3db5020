"""Reads the texts of the fields of a feed or entry."""

import base64
import re
from xml.etree.ElementTree import Element

from feedmill.collect.parsing.formats.child_elements import Fields

MAX_SHORT_TEXT = 4_000
_TEXT_TYPES = frozenset({"text", "html", "xhtml", "text/html", "text/plain", "application/xhtml+xml"})
_C1 = re.compile("[\x80-\x9f]")


def element_text(element: Element) -> str:
    """The text of an element without outer space."""
    text = element.text
    return text.strip() if text else ""


def first_text(fields: Fields, *names: str) -> str | None:
    """The first text that is not empty, in the order of the names."""
    places = fields.layout.places
    for name in names:
        for place in places.get(name, ()):
            if fields.texts[place]:
                return text_at(fields, place)
    return None


def text_at(fields: Fields, place: int) -> str:
    """A text, decoded if Atom declares it as base64."""
    element = fields.elements[place]
    return _decoded(element, fields.texts[place]) if element.keys() else fields.texts[place]


def short_text(fields: Fields, name: str) -> str | None:
    """The first text of a name, cut to `MAX_SHORT_TEXT` characters."""
    return clip_text(first_text(fields, name))


def clip_text(text: str | None) -> str | None:
    """A text cut to `MAX_SHORT_TEXT` characters; C1 control characters become those of Windows-1252."""
    if text is None or (text.isascii() and len(text) <= MAX_SHORT_TEXT):
        return text
    return _C1.sub(_as_windows_1252, text[:MAX_SHORT_TEXT])


def _as_windows_1252(found: re.Match[str]) -> str:
    """The character that browsers show for a control character like &#146;."""
    return bytes([ord(found[0])]).decode("cp1252", "ignore")


def _decoded(element: Element, text: str) -> str:
    if not _is_base64(element):
        return text
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode().strip()
    except ValueError:  # not base64, or not text
        return text


def _is_base64(element: Element) -> bool:
    mode = element.get("mode")
    if mode is not None:
        return mode.lower() == "base64"
    kind = element.get("type", "text")
    if kind in _TEXT_TYPES:
        return False
    return "/" in kind and not kind.startswith("text/") and not kind.endswith(("xml", "html"))
