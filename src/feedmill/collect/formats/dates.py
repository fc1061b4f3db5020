"""Dates as feeds write them, made into UTC datetimes. What is not understood is None, never a guess."""

import re
from datetime import UTC, datetime, timedelta, timezone

from feedmill.collect.formats.date_words import MONTHS, ZONES
from feedmill.collect.formats.loose_dates import Moment, read_loosely

_RFC_822 = re.compile(
    r"(?:[A-Za-z]{3,9}[,.]?\s+)?(\d{1,2})[\s-]([A-Za-z]{3,9})[\s-](\d{4})\s+(\d\d):(\d\d)(?::(\d\d))?"
    r"\s*(?:([+-])(\d\d):?(\d\d)|([A-Za-z]{1,4}))?",
    re.ASCII,
)
_ISO = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?", re.ASCII)
_MAX_LENGTH = 100
_FIRST_YEAR, _LAST_YEAR = 1900, 2199


def parse_date(text: str | None) -> datetime | None:
    """Read a date in any of the forms seen in feeds; one without a zone is in UTC."""
    if not text or len(text) > _MAX_LENGTH:
        return None
    text = text.strip()
    return _iso(text) or _rfc_822(text) or _loosely(text)


def _iso(text: str) -> datetime | None:
    if not _ISO.fullmatch(text):
        return None
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return None
    return _in_utc(read)


def _rfc_822(text: str) -> datetime | None:
    found = _RFC_822.fullmatch(text)
    if found is None:
        return None
    day, name, year, hour, minute, second, sign, zone_hours, zone_minutes, zone = found.groups()
    month = MONTHS.get(name.lower())
    offset = ZONES.get(zone.lower()) if zone else 0
    if month is None or offset is None:
        return None
    if sign:
        offset = (int(zone_hours) * 60 + int(zone_minutes)) * (-1 if sign == "-" else 1)
    return build(Moment(int(year), month, int(day), int(hour), int(minute), int(second or 0), offset))


def _loosely(text: str) -> datetime | None:
    moment = read_loosely(text)
    return build(moment) if moment else None


def build(moment: Moment) -> datetime | None:
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
    if not _FIRST_YEAR <= read.year <= _LAST_YEAR or (read.utcoffset() or _NONE) > _FARTHEST or -_FARTHEST > (read.utcoffset() or _NONE):
        return None
    return read.astimezone(UTC) if read.tzinfo else read.replace(tzinfo=UTC)


_NONE = timedelta()
_FARTHEST = timedelta(hours=15)
