"""Relative times: "5 min ago", "in 2 h"."""

from datetime import datetime

from feedmill.model.translatable_text import TranslatableText


def time_ago(moment: datetime, now: datetime) -> TranslatableText:
    return TranslatableText("{length} ago", length=now - moment) if moment <= now else time_until(moment, now)


def time_until(moment: datetime, now: datetime) -> TranslatableText:
    return TranslatableText("in {length}", length=moment - now) if moment > now else TranslatableText("now")
