"""What the namespaces add: podcast durations, Media RSS files and thumbnails, wishes about polling."""

from collections.abc import Iterator
from datetime import timedelta

from feedmill.collect.fields import Field
from feedmill.collect.formats.grouping import Grouped, first_text, group
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


def media(grouped: Grouped) -> Grouped:
    """All Media RSS elements of an entry, out of their groups."""
    found: Grouped = {}
    for field in _flat(grouped, depth=0):
        found.setdefault(field[0], []).append(field)
    return found


def _flat(grouped: Grouped, depth: int) -> Iterator[Field]:
    for key, fields in grouped.items():
        if not key.startswith("media:"):
            continue
        for field in fields:
            yield field
            if field[3] and depth < 3:
                yield from _flat(group(field[3]), depth + 1)


def picture(grouped: Grouped, scope: Scope, *keys: str) -> str | None:
    """The address in the first of these elements that carry one as `href`, `url`, a child or their text."""
    for key in keys:
        for _, attributes, text, children in grouped.get(key, ()):
            child = first_text(group(children), "url") if children else None
            address = attributes.get("href") or attributes.get("url") or child or text
            if address and "<" not in address:
                return scope.resolve(address)
    return None


def parse_duration(text: str | None) -> timedelta | None:
    """Seconds, or minutes and hours before colons, as podcasts write them."""
    parts = text.strip().split(":") if text else []
    try:
        seconds = sum(float(part or 0) * 60**power for power, part in enumerate(reversed(parts)))
        return timedelta(seconds=round(seconds)) if 1 <= len(parts) <= 3 and seconds >= 0.5 else None
    except (ValueError, OverflowError):
        return None


def ttl(grouped: Grouped) -> timedelta | None:
    minutes = _number(first_text(grouped, "ttl"))
    return min(timedelta(minutes=minutes), _LONGEST_TTL) if minutes else None


def update_period(grouped: Grouped) -> timedelta | None:
    """How often the feed says that it changes (sy:updatePeriod over sy:updateFrequency)."""
    period = _PERIODS.get((first_text(grouped, "sy:updateperiod") or "").lower())
    frequency = _number(first_text(grouped, "sy:updatefrequency")) or 1
    return period / frequency if period else None


def skip_hours(grouped: Grouped) -> frozenset[int]:
    """Hours of GMT; RSS 0.91 counts them from 1 to 24."""
    hours = {_number(text) for text in _children(grouped, "skiphours", "hour")}
    return frozenset(hour % 24 for hour in hours if hour is not None and hour <= 24)


def skip_days(grouped: Grouped) -> frozenset[int]:
    names = {text.lower() for text in _children(grouped, "skipdays", "day")}
    return frozenset(number for number, name in enumerate(_DAYS) if name in names)


def _children(grouped: Grouped, key: str, child: str) -> list[str]:
    return [text for field in grouped.get(key, ()) for name, _, text, _ in field[3] if name == child]


def _number(text: str | None) -> int | None:
    text = (text or "").strip()
    return int(text) if text.isdecimal() and len(text) < 10 else None
