"""Parses the dates of feeds into UTC datetimes; None for those that can't be parsed."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from feedmill.collect.parsing.formats.calendar_day import DateParts
from feedmill.collect.parsing.formats.loose_dates import parse_loose_date
from feedmill.collect.parsing.formats.time_zones import ZONES, TimeZone

_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_MONTH_NUMBERS = {form: f"{number:02}" for number, name in enumerate(_MONTHS, 1) for form in (name, name[:3])}
_ZONE_OFFSETS = {"": "+00:00"} | {
    name.upper(): f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
    for name, minutes in ZONES.items()
}
_MAX_LENGTH = 100
_AFTER_DAY = ("T", " ", "")
_FIRST_YEAR, _LAST_YEAR = 1900, 2199
_MAX_OFFSET = timedelta(hours=15)


def parse_date(text: str | None) -> datetime | None:
    """Parses a date in any of the forms seen in feeds. Without a time zone it is in UTC; in Korean, in Korea's zone."""
    if not text or len(text) > _MAX_LENGTH:
        return None
    try:
        if text[3:5] == ", ":
            return _in_utc(datetime.fromisoformat(_rfc_822_as_iso(text)))
        if text[4:5] == "-" and text[10:11] in _AFTER_DAY:
            return _in_utc(datetime.fromisoformat(text))
    except ValueError:
        pass
    return _parse_loosely(text)


def first_date(texts: Sequence[str], places: Iterable[int]) -> tuple[datetime | None, str | None]:
    """The first date that can be parsed, with its text; else None with the text of one that can't."""
    unparsed = None
    for place in places:
        text = texts[place]
        date = parse_date(text)
        if date is not None:
            return date, text
        unparsed = unparsed or text
    return None, unparsed or None


def _rfc_822_as_iso(text: str) -> str:
    """Turns `Thu, 01 Jan 2004 19:48:21 +0000` into ISO 8601; any other text into what is not a date."""
    parts = text.split(" ", 5)
    if len(parts) == 5:
        parts.append("GMT")
    _, day, month, year, time, zone = parts
    if len(day) == 1:
        day = "0" + day
    if len(time) != 8:
        return ""
    return f"{year}-{_MONTH_NUMBERS.get(month)}-{day}T{time}{_ZONE_OFFSETS.get(zone, zone)}"


def _parse_loosely(text: str) -> datetime | None:
    parts = parse_loose_date(text)
    return to_utc_datetime(parts) if parts else None


def to_utc_datetime(parts: DateParts) -> datetime | None:
    """The parts of a date as a UTC datetime; None if there is no such day, hour or time zone."""
    extra = timedelta()
    hour, second = parts.hour, parts.second
    if second == 60:  # a leap second, which datetime does not support
        second, extra = 59, timedelta(seconds=1)
    if (hour, parts.minute, second) == (24, 0, 0):
        hour, extra = 0, timedelta(days=1)
    try:
        date = datetime(parts.year, parts.month, parts.day, hour, parts.minute, second, tzinfo=_tzinfo(parts.zone))
        if date.utcoffset() != date.replace(fold=1).utcoffset():
            return None  # the clocks change, so there are two such moments or none
        return _in_utc(date + extra)
    except (ValueError, OverflowError, ZoneInfoNotFoundError):
        return None  # the last: not every machine has the time zone database


def _tzinfo(zone: TimeZone) -> tzinfo:
    if zone.region:
        return ZoneInfo(zone.region)
    return timezone(timedelta(minutes=zone.offset)) if zone.offset else UTC


def _in_utc(date: datetime) -> datetime | None:
    if not _FIRST_YEAR <= date.year <= _LAST_YEAR:
        return None
    if date.tzinfo is UTC:
        return date
    offset = date.utcoffset()
    if offset is None:
        return date.replace(tzinfo=UTC)
    if offset.microseconds:
        raise ValueError("+05.30 is no fraction of a second")
    return date.astimezone(UTC) if abs(offset) <= _MAX_OFFSET else None
