"""How the texts and dates among the fields of a feed or entry are read."""

import base64
import re
from collections.abc import Sequence
from datetime import datetime

from feedmill.collect.fields import Field, Fields
from feedmill.collect.formats.dates import parse_date
from feedmill.collect.xml_tree import Attributes

MAX_SHORT_TEXT = 4_000
_PLAINLY_TEXT = frozenset({"text", "html", "xhtml", "text/html", "text/plain", "application/xhtml+xml"})
_C1 = re.compile("[\x80-\x9f]")


def first_text(fields: Fields, *names: str) -> str | None:
    """The first text that is not empty, in the order of the names."""
    plain, rich = fields
    for name in names:
        if plain.get(name):
            return plain[name]
        if name in rich:
            for field in rich[name]:
                if field[1]:
                    return body(field)
    return None


def short_text(fields: Fields, name: str) -> str | None:
    """The first text under a name, no longer than a title could be."""
    text = fields.plain.get(name) or (first_text(fields, name) if name in fields.rich else None)
    if text is None or (text.isascii() and len(text) <= MAX_SHORT_TEXT):
        return text
    return _C1.sub(_as_windows_1252, text[:MAX_SHORT_TEXT])


def _as_windows_1252(found: re.Match[str]) -> str:
    """What browsers show for &#146; and the like, which name control characters."""
    return bytes([ord(found[0])]).decode("cp1252", "ignore")


def body(field: Field) -> str:
    """The text of an element, decoded where Atom lets it be base64."""
    attributes, text, _ = field
    if not attributes or not _is_base64(attributes):
        return text
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode().strip()
    except ValueError:  # not base64, or not of text
        return text


def _is_base64(attributes: Attributes) -> bool:
    if "mode" in attributes:
        return attributes["mode"] == "base64"
    kind = attributes.get("type", "text")
    if kind in _PLAINLY_TEXT:
        return False
    return "/" in kind and not kind.startswith("text/") and not kind.endswith(("xml", "html"))


def first_date(fields: Fields, names: Sequence[str]) -> tuple[datetime | None, str | None]:
    """The first date that can be read, with its words; else some words. Of one name the last date counts."""
    plain, rich = fields
    unread = None
    for name in names:
        for field in reversed(rich[name]) if name in rich else ():
            when = parse_date(field[1])
            if when is not None:
                return when, field[1]
            unread = unread or field[1]
        text = plain.get(name)
        when = parse_date(text)
        if when is not None:
            return when, text
        unread = unread or text
    return None, unread or None
