"""Writes the texts of one language, with its plurals, numbers and durations. For pages; uses Babel."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from typing import Any

from babel import Locale
from babel.dates import format_date, format_time, format_timedelta
from babel.numbers import format_decimal
from babel.units import format_unit

from feedmill.i18n.catalogue import DEFAULT_LANGUAGE, Text, about_language, area_texts, find_text
from feedmill.i18n.durations import Unit, split_duration
from feedmill.i18n.english import NUMBERS_AS_NAMES, Parameters
from feedmill.i18n.messages import Message

# Our Chinese texts have a space there; Babel's units have none.
_BETWEEN_FIGURE_AND_IDEOGRAPH = re.compile(r"(?<=[0-9])(?=[\u4e00-\u9fff])")


class Translator:
    """`t` in templates: `t("list.marked_all", n=3)`, `t.render(message)`."""

    def __init__(self, language: str) -> None:
        about = {**about_language(DEFAULT_LANGUAGE), **about_language(language)}
        self.language, self.tag = language, about["tag"]
        self.locale = Locale.parse(about["locale"])

    def __call__(self, code: str, n: float | None = None, **values: object) -> str:
        """The text of a code with these values."""
        text = self._form(find_text(self.language, code), n)
        if text is None:
            raise KeyError(code)
        if n is not None:
            values["n"] = n
        return text.format(**{name: self._figure(name, value) for name, value in values.items()}) if values else text

    def render(self, message: Message | None, zone: tzinfo = UTC) -> str:
        """A message in this language; the code itself if it is unknown. Times are in the time zone `zone`."""
        if message is None:
            return ""
        n = message.values.get("n")
        text = self._form(find_text(self.language, message.code), n if isinstance(n, int | float) else None)
        if text is None:
            return message.code
        return text.format_map(
            Parameters({name: self._write(name, value, zone) for name, value in message.values.items()})
        )

    def number(self, n: float) -> str:
        return format_decimal(n, locale=self.locale)

    def duration(self, length: timedelta) -> str:
        return self.quantity(*split_duration(length))

    def quantity(self, figure: float, unit: Unit) -> str:
        """`5 mins`, `3 hrs`, `3 小时`."""
        return _BETWEEN_FIGURE_AND_IDEOGRAPH.sub(" ", format_unit(figure, unit, "short", locale=self.locale))

    def ago(self, length: timedelta) -> str:
        """`5 min ago`, `3 hr ago`, `3 小时前`, in the largest unit that it fills."""
        told = format_timedelta(-length, threshold=1, add_direction=True, format="short", locale=self.locale)
        return _BETWEEN_FIGURE_AND_IDEOGRAPH.sub(" ", told)

    def part(self, area: str) -> Mapping[str, Text]:
        """All texts of one file, for scripts."""
        return _with_english(self.language, area)

    def _form(self, text: Text | None, n: float | None) -> str | None:
        if not isinstance(text, dict):
            return text
        return text.get(self.locale.plural_form(n or 0)) or text["other"]

    def _write(self, name: str, value: Any, zone: tzinfo) -> Any:
        match value:
            case Message():
                return self.render(value, zone)
            case timedelta():
                return self.duration(value)
            case datetime():
                return LocalMoment(value.astimezone(zone), self.locale)
        return self._figure(name, value)

    def _figure(self, name: str, value: Any) -> Any:
        """A number with separators, unless it identifies something."""
        is_figure = isinstance(value, int | float) and not isinstance(value, bool) and name not in NUMBERS_AS_NAMES
        return self.number(value) if is_figure else value


class LocalMoment:
    """A time in the reader's time zone, which a text writes as `{at:time}`, `{at:date}` or `{at:datetime}`."""

    def __init__(self, at: datetime, locale: Locale) -> None:
        self._at, self._locale = at, locale

    def __format__(self, form: str) -> str:
        day = format_date(self._at, "medium", locale=self._locale)
        time = f"{format_time(self._at, 'short', locale=self._locale)} {self._at.tzname() or 'UTC'}"
        return {"time": time, "date": day}.get(form, f"{day} {time}")


@cache
def translator(language: str) -> Translator:
    return Translator(language)


@cache
def _with_english(language: str, area: str) -> Mapping[str, Text]:
    return {**area_texts(DEFAULT_LANGUAGE, area), **area_texts(language, area)}
