"""Parses the dates of feeds into UTC datetimes; None for what is not understood."""

from datetime import UTC, datetime, timedelta, timezone

from feedmill.collect.parsing.formats.date_words import ZONES
from feedmill.collect.parsing.formats.loose_dates import DateParts, parse_loose_date

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
_FARTHEST = timedelta(hours=15)


def parse_date(text: str | None) -> datetime | None:
    """Read a date in any of the forms seen in feeds; one without a zone is in UTC."""
    if not text or len(text) > _MAX_LENGTH:
        return None
    try:
        if text[3:5] == ", ":
            return _in_utc(datetime.fromisoformat(_rfc_822_as_iso(text)))
        if text[4:5] == "-" and text[10:11] in _AFTER_DAY:
            return _in_utc(datetime.fromisoformat(text))
    except ValueError:
        pass
    return _loosely(text)


def _rfc_822_as_iso(text: str) -> str:
    """Put the parts of `Thu, 01 Jan 2004 19:48:21 +0000` in ISO's order; another text gives what is no date."""
    parts = text.split(" ", 5)
    if len(parts) == 5:
        parts.append("GMT")
    _, day, month, year, time, zone = parts
    if len(day) == 1:
        day = "0" + day
    if len(time) != 8:
        return ""
    return f"{year}-{_MONTH_NUMBERS.get(month)}-{day}T{time}{_ZONE_OFFSETS.get(zone, zone)}"


def _loosely(text: str) -> datetime | None:
    moment = parse_loose_date(text)
    return to_utc_datetime(moment) if moment else None


def to_utc_datetime(moment: DateParts) -> datetime | None:
    """The UTC datetime of a moment, or None if there is no such day, hour or zone."""
    spare = timedelta()
    hour, second = moment.hour, moment.second
    if second == 60:  # a leap second, which datetime does not know
        second, spare = 59, timedelta(seconds=1)
    if (hour, moment.minute, second) == (24, 0, 0):
        hour, spare = 0, timedelta(days=1)
    try:
        zone = timezone(timedelta(minutes=moment.offset)) if moment.offset else UTC
        read = datetime(moment.year, moment.month, moment.day, hour, moment.minute, second, tzinfo=zone)
    except ValueError:
        return None
    return _in_utc(read + spare)


def _in_utc(read: datetime) -> datetime | None:
    if not _FIRST_YEAR <= read.year <= _LAST_YEAR:
        return None
    if read.tzinfo is UTC:
        return read
    offset = read.utcoffset()
    if offset is None:
        return read.replace(tzinfo=UTC)
    return read.astimezone(UTC) if abs(offset) <= _FARTHEST else None
