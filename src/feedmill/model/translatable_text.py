"""Text for people that keeps its template and values, so that it can be stored and translated."""

from collections.abc import Mapping
from datetime import timedelta
from functools import lru_cache
from typing import Any, Self

import msgspec

MINUTE, HOUR, DAY, YEAR = 60, 3600, 86400, 365.25 * 86400


class TranslatableText(str):
    """A sentence in English: `template` with `values` in it, among which lengths of time and other sentences."""

    template: str
    values: Mapping[str, Any]

    def __new__(cls, template: str, **values: Any) -> Self:
        made = super().__new__(cls, template.format(**{name: _in_english(value) for name, value in values.items()}))
        made.template, made.values = template, values
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        """For copies."""
        return (self.template,), dict(self.values)


def text_to_stored(sentence: str) -> str:
    """What a row keeps of a sentence; one that has no parts is kept as it is."""
    return msgspec.json.encode(_plain(sentence)).decode() if isinstance(sentence, TranslatableText) else sentence


# A page may show a thousand feeds, mostly with the reasons that they had a minute ago.
@lru_cache(maxsize=4096)
def text_from_stored(text: str) -> str:
    if not text.startswith('{"say":'):
        return text
    sentence: str = _read(msgspec.json.decode(text))
    return sentence


def format_duration(length: timedelta) -> str:
    """`45 s`, `30 min`, `2 h`, `3 days`, `3 years`: what a person would say."""
    figure, unit = split_duration(length)
    return f"{figure:g} {unit}"


def split_duration(length: timedelta) -> tuple[float, str]:
    """A length of time as a figure and its unit: s, min, h, days or years."""
    seconds = length.total_seconds()
    if seconds < 90:
        return round(seconds), "s"
    if seconds < 90 * MINUTE:
        return round(seconds / MINUTE), "min"
    if seconds < 36 * HOUR:
        return round(seconds / HOUR, 1), "h"
    if seconds < 730 * DAY:
        return round(seconds / DAY, 1 if seconds < 10 * DAY else None), "days"
    return round(seconds / YEAR), "years"


def _in_english(value: Any) -> Any:
    return format_duration(value) if isinstance(value, timedelta) else value


def _plain(value: Any) -> Any:
    if isinstance(value, TranslatableText):
        return {"say": value.template} | {name: _plain(part) for name, part in value.values.items()}
    return {"seconds": value.total_seconds()} if isinstance(value, timedelta) else value


def _read(kept: Any) -> Any:
    if not isinstance(kept, dict):
        return kept
    if "seconds" in kept:
        return timedelta(seconds=kept["seconds"])
    return TranslatableText(kept.pop("say"), **{name: _read(part) for name, part in kept.items()})
