"""The files that an entry carries, from RSS, Atom, Media RSS and podcast elements."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from feedmill.collect.fields import Attributes
from feedmill.collect.formats.extensions import parse_duration
from feedmill.collect.formats.grouping import Grouped, first_text
from feedmill.collect.formats.links import links
from feedmill.collect.formats.scope import Scope
from feedmill.model.parsed import Enclosure

_MAX_ENCLOSURES = 100
_PLAYED = ("audio", "video")


def enclosures(grouped: Grouped, media: Grouped, scope: Scope) -> tuple[Enclosure, ...]:
    """Every file once, the feed's own enclosures first."""
    found: dict[str, Enclosure] = {}
    for enclosure in _all(grouped, media, scope):
        found.setdefault(enclosure.url, enclosure)
        if len(found) == _MAX_ENCLOSURES:
            break
    duration = parse_duration(first_text(grouped, "itunes:duration"))
    return tuple(_with_duration(list(found.values()), duration))


def _all(grouped: Grouped, media: Grouped, scope: Scope) -> Iterator[Enclosure]:
    for _, attributes, text, _ in grouped.get("enclosure", ()):
        address = attributes.get("url") or attributes.get("href") or text
        if address:
            yield _enclosure(address, attributes, "length", scope)
    for field in links(grouped, "enclosure"):
        yield _enclosure(field[1]["href"], field[1], "length", scope)
    for _, attributes, _, _ in media.get("media:content", ()):
        if attributes.get("url") and _is_played(attributes):
            yield _enclosure(attributes["url"], attributes, "fileSize", scope)


def _enclosure(address: str, attributes: Attributes, size: str, scope: Scope) -> Enclosure:
    return Enclosure(
        url=scope.inside(attributes).resolve(address),
        type=attributes.get("type") or None,
        length=_length(attributes.get(size)),
        duration=parse_duration(attributes.get("duration")),
    )


def _length(text: str | None) -> int | None:
    text = (text or "").strip().replace(",", "")
    return int(text) if text.isdecimal() and len(text) < 16 else None


def _is_played(attributes: Attributes) -> bool:
    return attributes.get("medium") in _PLAYED or attributes.get("type", "").startswith(_PLAYED)


def _with_duration(found: list[Enclosure], duration: timedelta | None) -> list[Enclosure]:
    """Give the podcast's duration to the first file that can be played."""
    if duration is None or not found:
        return found
    played = next((i for i, one in enumerate(found) if (one.type or "audio").startswith(_PLAYED)), 0)
    if found[played].duration is None:
        found[played] = replace(found[played], duration=duration)
    return found
