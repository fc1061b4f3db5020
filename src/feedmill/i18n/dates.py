"""Formats dates, ages and durations in the reader's language and time zone."""

from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from feedmill.i18n.catalogue import Translator
from feedmill.model.timestamps import from_iso

MINUTE, HOUR, DAY = 60, 3600, 86400
# The longest name of a zone has 32 characters.
MAX_ZONE_LENGTH = 64


def time_zone(name: str) -> tzinfo:
    """The zone of that name; UTC when nobody knows it."""
    try:
        return ZoneInfo(name) if name and len(name) <= MAX_ZONE_LENGTH else UTC
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


class DateFormatter:
    """`when` in templates. Every method takes a moment, or the text that we keep of one."""

    def __init__(self, words: Translator, zone: tzinfo, now: datetime) -> None:
        self._t, self._zone, self.now = words, zone, now

    def age(self, moment: datetime | str | None) -> str:
        """`now`, `5 min`, `3 h`, `6 d`, then the day."""
        if moment is None:
            return "–"
        at = self.local(moment)
        seconds = (self.now - at).total_seconds()
        if seconds >= 7 * DAY or seconds < -MINUTE:
            return self.day(at)
        if seconds < MINUTE:
            return self._t("time.now")
        unit, size = next(pair for pair in (("days", DAY), ("hours", HOUR), ("minutes", MINUTE)) if seconds >= pair[1])
        return self._t(f"time.{unit}", n=int(seconds // size))

    def until(self, moment: datetime | str | None) -> str:
        """`in 5 min`, `in 3 h`; what is past is due now."""
        if moment is None:
            return "–"
        seconds = (self.local(moment) - self.now).total_seconds()
        return self._t("time.due") if seconds < MINUTE else self._t("time.in", length=self.length(seconds))

    def length(self, length: float | timedelta) -> str:
        """A length of time in the largest unit that it fills, once rounded: what is nearly an hour is `1 h`."""
        seconds = length.total_seconds() if isinstance(length, timedelta) else length
        for unit, size, next_size in (("seconds", 1, MINUTE), ("minutes", MINUTE, HOUR), ("hours", HOUR, DAY)):
            if round(seconds / size) * size < next_size:
                return self._t(f"time.{unit}", n=round(seconds / size))
        return self._t("time.days", n=round(seconds / DAY))

    def day(self, moment: datetime | str) -> str:
        """`5 Mar`, with the year when it is not this one."""
        at = self.local(moment)
        form = "time.day" if at.year == self.now.astimezone(self._zone).year else "time.day_and_year"
        return self._t(form, day=at.day, month=self._month(at, "short"), year=at.year)

    def full(self, moment: datetime | str | None) -> str:
        """The whole date with its time and zone."""
        if moment is None:
            return ""
        at = self.local(moment)
        return self._t(
            "time.full",
            day=at.day,
            month=self._month(at, "long"),
            year=at.year,
            time=f"{at:%H:%M}",
            zone=at.tzname() or "UTC",
        )

    def machine(self, moment: datetime | str | None) -> str:
        """For `<time datetime>`."""
        return "" if moment is None else self.local(moment).isoformat(timespec="seconds")

    def _month(self, at: datetime, form: str) -> str:
        return self._t(f"time.{form}_months").split()[at.month - 1]

    @property
    def midnight(self) -> datetime:
        """When the reader's day began."""
        return self.local(self.now).replace(hour=0, minute=0, second=0, microsecond=0)

    def local(self, moment: datetime | str) -> datetime:
        """The moment by the clock of the reader's zone."""
        return (from_iso(moment) if isinstance(moment, str) else moment).astimezone(self._zone)
