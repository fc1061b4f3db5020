"""Relative times for the command line: "5 min ago", "in 2 h"."""

from datetime import datetime

from feedmill.i18n.english import format_duration


def time_ago(moment: datetime, now: datetime) -> str:
    return f"{format_duration(now - moment)} ago" if moment <= now else time_until(moment, now)


def time_until(moment: datetime, now: datetime) -> str:
    return f"in {format_duration(moment - now)}" if moment > now else "now"
