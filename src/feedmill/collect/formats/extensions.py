"""What the namespaces add: podcast durations, Media RSS files and thumbnails, wishes about polling."""

from datetime import timedelta

from feedmill.collect.fields import NO_FIELDS, Field, Fields
from feedmill.collect.formats.grouping import first_text
from feedmill.collect.formats.names import CONTAINERS, LEAVES
from feedmill.collect.formats.scope import Scope
from feedmill.collect.xml_tree import NO_ATTRIBUTES

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
_MEDIA = frozenset(name for name in CONTAINERS | LEAVES if name.startswith("media:"))


def media(fields: Fields) -> Fields:
    """The Media RSS elements of an entry, taken out of their groups."""
    found = Fields({}, {})
    _take_media(fields, found.rich, 0)
    return found


def _take_media(fields: Fields, found: dict[str, list[Field]], depth: int) -> None:
    plain, rich = fields
    for name, text in plain.items():
        if name in _MEDIA:
            found.setdefault(name, []).append((NO_ATTRIBUTES, text, NO_FIELDS))
    for name, elements in rich.items():
        if name in _MEDIA:
            for field in elements:
                found.setdefault(name, []).append(field)
                if depth < _MAX_GROUPS and field[2] is not NO_FIELDS:
                    _take_media(field[2], found, depth + 1)


def picture(fields: Fields, scope: Scope, *names: str) -> str | None:
    """The address in the first of these elements that carry one as `href`, `url`, a child or their text."""
    plain, rich = fields
    for name in names:
        for attributes, text, children in fields.get(name) if name in rich or name in plain else ():
            address = attributes.get("href") or attributes.get("url") or first_text(children, "url") or text
            if address and "<" not in address:
                return scope.resolve(address)
    return None


def media_picture(found_media: Fields, scope: Scope) -> str | None:
    """The address of a Media RSS thumbnail, or of a file that is an image."""
    thumbnail = picture(found_media, scope, "media:thumbnail")
    if thumbnail or "media:content" not in found_media.rich:
        return thumbnail
    images = [
        field
        for field in found_media.rich["media:content"]
        if field[0].get("medium") == "image" or field[0].get("type", "").startswith("image/")
    ]
    return picture(Fields({}, {"media:content": images}), scope, "media:content")


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
