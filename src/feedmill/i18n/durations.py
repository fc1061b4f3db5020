"""Chooses the unit in which a duration is written, or writes it as on a clock."""

from datetime import timedelta
from typing import Literal

Unit = Literal["second", "minute", "hour", "day", "year"]

MINUTE, HOUR, DAY, YEAR = 60, 3600, 86400, 365.25 * 86400


def split_duration(length: timedelta) -> tuple[float, Unit]:
    """A figure and its unit, as a person would say it: 45 seconds, 30 minutes, 1.5 hours, 3 days, 2 years."""
    seconds = length.total_seconds()
    if seconds < 90:
        return round(seconds), "second"
    if seconds < 90 * MINUTE:
        return round(seconds / MINUTE), "minute"
    if seconds < 36 * HOUR:
        return round(seconds / HOUR, 1 if seconds < 10 * HOUR else None), "hour"
    if seconds < 730 * DAY:
        return round(seconds / DAY, 1 if seconds < 10 * DAY else None), "day"
    return round(seconds / YEAR), "year"


def clock_text(seconds: float) -> str:
    """`1:02:03` or `2:03`, as players show it."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
