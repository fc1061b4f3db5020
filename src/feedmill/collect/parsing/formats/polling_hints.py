"""Reads what a feed says about polling: `ttl`, `sy:updatePeriod`, `skipHours`, `skipDays`."""

from datetime import timedelta

from feedmill.collect.parsing.formats.child_elements import Fields
from feedmill.collect.parsing.formats.field_texts import element_text, first_text

_PERIODS = {
    "hourly": timedelta(hours=1),
    "daily": timedelta(days=1),
    "weekly": timedelta(weeks=1),
    "monthly": timedelta(days=30),
    "yearly": timedelta(days=365),
}
_LONGEST_TTL = timedelta(days=365)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def ttl(fields: Fields) -> timedelta | None:
    minutes = _number(first_text(fields, "ttl"))
    return min(timedelta(minutes=minutes), _LONGEST_TTL) if minutes else None


def update_period(fields: Fields) -> timedelta | None:
    """The interval at which the feed says that it changes (sy:updatePeriod divided by sy:updateFrequency)."""
    period = _PERIODS.get((first_text(fields, "sy:updateperiod") or "").lower())
    frequency = _number(first_text(fields, "sy:updatefrequency")) or 1
    return period / frequency if period else None


def skip_hours(fields: Fields) -> frozenset[int]:
    """Hours in GMT, 0 to 23; RSS 0.91 counts them from 1 to 24."""
    hours = {_number(text) for text in _children(fields, "skiphours", "hour")}
    return frozenset(hour % 24 for hour in hours if hour is not None and hour <= 24)


def skip_days(fields: Fields) -> frozenset[int]:
    names = {text.lower() for text in _children(fields, "skipdays", "day")}
    return frozenset(number for number, name in enumerate(_DAYS) if name in names)


def _children(fields: Fields, name: str, child: str) -> list[str]:
    return [element_text(one) for element in fields.get(name) for one in fields.inside(element).get(child)]


def _number(text: str | None) -> int | None:
    text = (text or "").strip()
    return int(text) if text.isdecimal() and len(text) < 10 else None
