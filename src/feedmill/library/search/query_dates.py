"""Parses dates in a search query: 2026, 2026-01, 2026-01-31, today, yesterday, -7d."""

import re
from datetime import UTC, datetime, timedelta

from feedmill.model.search_query import DateRange

_CALENDAR = re.compile(r"(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?", re.ASCII)
_AGO = re.compile(r"(?:-|P)(\d{1,5})([hdwmy])", re.ASCII | re.IGNORECASE)
_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}
DAY = timedelta(days=1)


def read_span(value: str, now: datetime) -> DateRange | None:
    """The start of a date and the start of what follows it; None if this is no date."""
    if value.lower() in ("today", "yesterday"):
        return _day(now - (DAY if value.lower() == "yesterday" else timedelta()))
    if ago := _moment_ago(value, now):
        return _day(ago)
    return _calendar(value)


def read_moment(value: str, now: datetime) -> datetime | None:
    """The start of a date; `-7d` is seven days ago to the minute."""
    if ago := _moment_ago(value, now):
        return ago
    span = read_span(value, now)
    return span.since if span else None


def read_range(value: str, now: datetime) -> DateRange | None:
    """A date, or two separated by a slash, of which one may be missing: `2026-01/2026-03`, `P1W/`."""
    first, slash, last = value.partition("/")
    if not slash or _calendar(value):
        return read_span(value, now)
    since = read_moment(first, now) if first else None
    until = read_span(last, now) if last else None
    if (first and since is None) or (last and until is None) or not (first or last):
        return None
    return DateRange(since, until.until if until else None)


def _calendar(value: str) -> DateRange | None:
    read = _CALENDAR.fullmatch(value)
    if read is None:
        return None
    year, month, day = (int(part) if part else None for part in read.groups())
    try:
        since = datetime(year or 0, month or 1, day or 1, tzinfo=UTC)
        return DateRange(since, _end(since, month, day))
    except (ValueError, OverflowError):
        return None


def _end(since: datetime, month: int | None, day: int | None) -> datetime:
    if day:
        return since + DAY
    if month and month < 12:
        return since.replace(month=month + 1)
    return since.replace(year=since.year + 1, month=1)


def _moment_ago(value: str, now: datetime) -> datetime | None:
    read = _AGO.fullmatch(value)
    if read is None:
        return None
    number, unit = int(read[1]), read[2].lower()
    try:
        return now - (timedelta(hours=number) if unit == "h" else timedelta(days=number * _DAYS[unit]))
    except OverflowError:
        return None


def _day(moment: datetime) -> DateRange:
    since = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return DateRange(since, since + DAY)
