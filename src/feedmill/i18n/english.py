"""Renders messages in English without Babel: for logs, the command line and the API.

Babel takes 30 ms to import, which a command that prints a line should not pay.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from feedmill.i18n.catalogue import DEFAULT_LANGUAGE, find_text
from feedmill.i18n.durations import Unit, split_duration

_UNITS: Mapping[Unit, str] = {"second": "s", "minute": "min", "hour": "h", "day": "days", "year": "years"}
# Parameters whose numbers identify something: they are written without separators.
NUMBERS_AS_NAMES = frozenset({"port", "status", "feed", "group", "first", "id"})
_MOMENTS = {"time": "%H:%M %Z", "date": "%Y-%m-%d", "datetime": "%Y-%m-%d %H:%M %Z"}


class Parameters(dict[str, Any]):
    """The parameters of a text. One that is missing, as in a row of another version, is shown as `…`."""

    def __missing__(self, name: str) -> str:
        return "…"


class Moment:
    """A datetime that a text writes as `{at:time}`, `{at:date}` or `{at:datetime}`."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def __format__(self, form: str) -> str:
        return f"{self.at:{_MOMENTS.get(form, _MOMENTS['datetime'])}}"


def render_english(code: str, values: Mapping[str, Any]) -> str:
    """The English text of a code; the code itself if it is unknown."""
    text = find_text(DEFAULT_LANGUAGE, code)
    if isinstance(text, dict):
        text = text["one" if values.get("n") == 1 and "one" in text else "other"]
    if text is None:
        return code
    return text.format_map(Parameters({name: _write(name, value) for name, value in values.items()}))


def format_duration(length: timedelta) -> str:
    """`45 s`, `30 min`, `2 h`, `1 day`, `3 years`."""
    figure, unit = split_duration(length)
    name = unit if figure == 1 and unit in ("day", "year") else _UNITS[unit]
    return f"{figure:g} {name}"


def _write(name: str, value: Any) -> Any:
    match value:
        case timedelta():
            return format_duration(value)
        case datetime():
            return Moment(value)
        case int() | float() if name not in NUMBERS_AS_NAMES and not isinstance(value, bool):
            return f"{value:,}"
    return value
