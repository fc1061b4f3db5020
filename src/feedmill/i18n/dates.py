"""Formats dates, ages and durations in the reader's language and time zone."""

from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from babel.dates import format_date, format_skeleton, format_time

from feedmill.i18n.durations import Unit
from feedmill.i18n.translator import Translator

MINUTE, HOUR, DAY = 60, 3600, 86400
# Lists put entries without a date before the first year that a date may have.
FIRST_YEAR = 1900
# The longest name of a zone has 32 characters.
MAX_ZONE_LENGTH = 64

_AGE_UNITS = (DAY, HOUR, MINUTE)
_LENGTH_UNITS: tuple[tuple[Unit, int, int], ...] = (
    ("second", 1, MINUTE),
    ("minute", MINUTE, HOUR),
    ("hour", HOUR, DAY),
)


def time_zone(name: str) -> tzinfo:
    """The zone of that name; UTC if it is unknown."""
    try:
        return ZoneInfo(name) if name and len(name) <= MAX_ZONE_LENGTH else UTC
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


class DateFormatter:
    """`when` in templates. Every method takes a datetime, or its stored text."""

    def __init__(self, words: Translator, zone: tzinfo, now: datetime) -> None:
        self._t, self.zone, self.now = words, zone, now

    def age(self, moment: datetime | str | None) -> str:
        """`now`, `5 min ago`, `3 hr ago`, `6 days ago`, then the day."""
        if moment is None:
            return "–"
        at = self.local(moment)
        seconds = (self.now - at).total_seconds()
        if seconds >= 7 * DAY or seconds < -MINUTE:
            return self.day(at)
        if seconds < MINUTE:
            return self._t("time.now")
        size = next(size for size in _AGE_UNITS if seconds >= size)
        return self._t.ago(timedelta(seconds=seconds // size * size))

    def until(self, moment: datetime | str | None) -> str:
        """`in 5 mins`, `in 3 hrs`; a time in the past is shown as now."""
        if moment is None:
            return "–"
        seconds = (self.local(moment) - self.now).total_seconds()
        return self._t("time.due") if seconds < MINUTE else self._t("time.in", length=self.length(seconds))

    def is_past(self, moment: datetime | str) -> bool:
        return self.local(moment) <= self.now

    def length(self, length: float | timedelta) -> str:
        """A duration in the largest unit that it fills after rounding: 59.9 minutes is `1 hr`."""
        seconds = length.total_seconds() if isinstance(length, timedelta) else length
        for unit, size, next_size in _LENGTH_UNITS:
            if round(seconds / size) * size < next_size:
                return self._t.quantity(round(seconds / size), unit)
        return self._t.quantity(round(seconds / DAY), "day")

    def day(self, moment: datetime | str) -> str:
        """`5 Mar`, with the year when it is not this one."""
        at = self.local(moment)
        form = "MMMd" if at.year == self.now.astimezone(self.zone).year else "yMMMd"
        return format_skeleton(form, at, tzinfo=self.zone, locale=self._t.locale)

    def day_heading(self, moment: datetime | str) -> str:
        """`Today`, `Yesterday`, `Monday, 16 November`, with the year when it is not this one."""
        at, today = self.local(moment), self.local(self.now)
        if at.year < FIRST_YEAR:
            return self._t("time.no_date")
        if 0 <= (days := (today.date() - at.date()).days) <= 1:
            return self._t("time.yesterday" if days else "time.today")
        form = "MMMMEEEEd" if at.year == today.year else "yMMMMEEEEd"
        return format_skeleton(form, at, tzinfo=self.zone, locale=self._t.locale)

    def full(self, moment: datetime | str | None) -> str:
        """The whole date with its time and zone."""
        if moment is None:
            return ""
        at = self.local(moment)
        day, time = format_date(at, "long", locale=self._t.locale), format_time(at, "short", locale=self._t.locale)
        return self._t("time.full", day=day, time=time, zone=at.tzname() or "UTC")

    def machine(self, moment: datetime | str | None) -> str:
        """For `<time datetime>`."""
        return "" if moment is None else self.local(moment).isoformat(timespec="seconds")

    @property
    def midnight(self) -> datetime:
        """When the reader's day began."""
        return self.local(self.now).replace(hour=0, minute=0, second=0, microsecond=0)

    def local(self, moment: datetime | str) -> datetime:
        """The moment in the reader's time zone."""
        return (datetime.fromisoformat(moment) if isinstance(moment, str) else moment).astimezone(self.zone)
