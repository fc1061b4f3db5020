"""What the namespaces add: podcast durations, Media RSS files and thumbnails, wishes about polling."""

from collections.abc import Iterator
from datetime import timedelta

from feedmill.collect.fields import NO_FIELDS, Field, Fields
from feedmill.collect.formats.grouping import first_text
from feedmill.collect.formats.scope import Scope

_PERIODS = {
    "hourly": timedelta(hours=1),
    "daily": timedelta(days=1),
    "weekly": timedelta(weeks=1),
    "monthly": timedelta(days=30),
    "yearly": timedelta(days=365),
}
_LONGEST_TTL = timedelta(days=365)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MAX_GROUPS = 3


def media(fields: Fields, depth: int = 0) -> Fields:
    """The Media RSS elements of an entry, taken out of their groups."""
    found = Fields({}, {})
    for name, field in _media_elements(fields, depth):
        found.rich.setdefault(name, []).append(field)
    return found


def _media_elements(fields: Fields, depth: int) -> Iterator[tuple[str, Field]]:
    for name in (*fields.plain, *fields.rich):
        if not name.startswith("media:"):
            continue
        for field in fields.get(name):
            yield name, field
            if field[2] is not NO_FIELDS and depth < _MAX_GROUPS:
                yield from _media_elements(field[2], depth + 1)


def picture(fields: Fields, scope: Scope, *names: str) -> str | None:
    """The address in the first of these elements that carry one as `href`, `url`, a child or their text."""
    for name in names:
        for attributes, text, children in fields.get(name):
            address = attributes.get("href") or attributes.get("url") or first_text(children, "url") or text
            if address and "<" not in address:
                return scope.resolve(address)
    return None


def media_picture(found_media: Fields, scope: Scope) -> str | None:
    """The address of a Media RSS thumbnail, or of a file that is an image."""
    images = [
        field
        for field in found_media.get("media:content")
        if field[0].get("medium") == "image" or field[0].get("type", "").startswith("image/")
    ]
    thumbnail = picture(found_media, scope, "media:thumbnail")
    return thumbnail or picture(Fields({}, {"media:content": images}), scope, "media:content")


def parse_duration(text: str | None) -> timedelta | None:
    """Seconds, or minutes and hours before colons, as podcasts write them."""
    if not text:
        return None
    parts = text.strip().split(":")
    try:
        seconds = sum(float(part or 0) * 60**power for power, part in enumerate(reversed(parts)))
        return timedelta(seconds=round(seconds)) if len(parts) <= 3 and seconds >= 0.5 else None
    except (ValueError, OverflowError):
        return None


def ttl(fields: Fields) -> timedelta | None:
    minutes = _number(first_text(fields, "ttl"))
    return min(timedelta(minutes=minutes), _LONGEST_TTL) if minutes else None


def update_period(fields: Fields) -> timedelta | None:
    """How often the feed says that it changes (sy:updatePeriod over sy:updateFrequency)."""
    period = _PERIODS.get((first_text(fields, "sy:updateperiod") or "").lower())
    frequency = _number(first_text(fields, "sy:updatefrequency")) or 1
    return period / frequency if period else None


def skip_hours(fields: Fields) -> frozenset[int]:
    """Hours of GMT; RSS 0.91 counts them from 1 to 24."""
    hours = {_number(text) for text in _children(fields, "skiphours", "hour")}
    return frozenset(hour % 24 for hour in hours if hour is not None and hour <= 24)


def skip_days(fields: Fields) -> frozenset[int]:
    names = {text.lower() for text in _children(fields, "skipdays", "day")}
    return frozenset(number for number, name in enumerate(_DAYS) if name in names)


def _children(fields: Fields, name: str, child: str) -> list[str]:
    return [one[1] for field in fields.get(name) for one in field[2].get(child)]


def _number(text: str | None) -> int | None:
    text = (text or "").strip()
    return int(text) if text.isdecimal() and len(text) < 10 else None
