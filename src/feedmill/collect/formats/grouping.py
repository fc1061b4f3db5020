"""The fields of one feed or entry by name, and how their texts are read."""

import base64
import binascii
from collections.abc import Iterable, Iterator
from datetime import datetime

from feedmill.collect.fields import Field
from feedmill.collect.formats.dates import parse_date

Grouped = dict[str, list[Field]]

MAX_SHORT_TEXT = 4_000
_TEXT_TYPES = frozenset({"", "text", "html", "xhtml"})


def group(fields: Iterable[Field]) -> Grouped:
    grouped: Grouped = {}
    for field in fields:
        grouped.setdefault(field[0], []).append(field)
    return grouped


def texts(grouped: Grouped, *keys: str) -> Iterator[str]:
    """The texts under these names that are not empty, in the order of the names."""
    for key in keys:
        for field in grouped.get(key, ()):
            if field[2]:
                yield body(field)


def first_text(grouped: Grouped, *keys: str) -> str | None:
    return next(texts(grouped, *keys), None)


def short_text(grouped: Grouped, *keys: str) -> str | None:
    """The first text, no longer than a title could be."""
    text = first_text(grouped, *keys)
    return text[:MAX_SHORT_TEXT] if text else None


def body(field: Field) -> str:
    """The text of an element, decoded where Atom lets it be base64."""
    _, attributes, text, _ = field
    if not attributes or not _is_base64(attributes):
        return text
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode().strip()
    except (binascii.Error, UnicodeDecodeError):
        return text


def _is_base64(attributes: dict[str, str]) -> bool:
    if attributes.get("mode") == "base64":
        return True
    kind = attributes.get("type", "").lower()
    return kind not in _TEXT_TYPES and not kind.startswith("text/") and not kind.endswith(("xml", "html"))


def first_date(grouped: Grouped, *keys: str) -> tuple[datetime | None, str | None]:
    """The first date that can be read, with its words; else the first words."""
    unread = None
    for text in texts(grouped, *keys):
        when = parse_date(text)
        if when is not None:
            return when, text
        unread = unread or text
    return None, unread
