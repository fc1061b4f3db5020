"""Reads the day of a date in the forms and languages of feeds; None if any word is not understood."""

import re
from dataclasses import dataclass
from datetime import date, timedelta

from feedmill.collect.parsing.formats.date_words import FILLERS, MONTHS, WEEKDAYS
from feedmill.collect.parsing.formats.time_zones import UTC_ZONE, TimeZone


@dataclass(frozen=True, slots=True)
class DateParts:
    """The parts of a date."""

    year: int
    month: int
    day: int
    hour: int = 0
    minute: int = 0
    second: int = 0
    zone: TimeZone = UTC_ZONE


_WORD = re.compile(r"\d+|[^\W\d_]+(?:[-/][^\W\d_]+)*|[^\s\w]")
_ISO_WEEK = re.compile(r"(\d{4})-?w(\d\d)(?:-?([1-7]))?")
_ORDINAL = re.compile(r"(\d{4})-?(\d{3})")
_NUMERIC = re.compile(r"(\d{1,4})\s*([-/.])\s*(\d{1,2})\s*\2\s*(\d{1,4})\.?")
_TIME_MARK = re.compile(r"(?<=\d)\s?t\s*$")
_ORDINAL_SUFFIX = re.compile(r"(?<=\d)(?:st|nd|rd|th|er|º|ª|\.)(?=[\s,]|$)")
_WEEKDAY_PHRASE = re.compile(
    r"\(?(?:星期|週|周|礼拜)[一二三四五六日天]\)?|\(?[月火水木金土日]曜日?\)?|\(?[월화수목금토일]요일\)?"
    r"|\([一二三四五六月火水木金土日월화수목금토일]\)|^[一二三四五六日火水木金土월화수목금토일]\s*(?=,)"
    r"|^(?:thứ \w+|chủ nhật)"
)
_NUMBERED_MONTH = re.compile(r"(\d{1,2})\s*[月월]|(十[一二]?|[一二三四五六七八九])月|tháng (\d{1,2})")
_YEAR_OR_DAY_MARK = re.compile(r"(?<=\d)\s*[年년日号號일]")
_HAN_NUMBERS = ("一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二")
_MONTH_WORDS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def read_day(text: str) -> DateParts | None:
    """The day in a text in lower case; None if a part of it is unknown or ambiguous."""
    text = _TIME_MARK.sub("", _WEEKDAY_PHRASE.sub(" ", text)).strip(" ,-|")
    if found := _ISO_WEEK.fullmatch(text):
        return _read_iso_week(int(found[1]), int(found[2]), int(found[3] or 1))
    if found := _ORDINAL.fullmatch(text):
        return _read_ordinal(int(found[1]), int(found[2]))
    if numeric := _NUMERIC.fullmatch(_without_weekday(text)):
        return _read_numeric(*numeric.groups())
    text = _YEAR_OR_DAY_MARK.sub(" ", _NUMBERED_MONTH.sub(_month_word, text))
    return _read_named([word for word in _WORD.findall(_ORDINAL_SUFFIX.sub("", text)) if word not in FILLERS])


def _month_word(found: re.Match[str]) -> str:
    """A month with a number, like 1月, as a word; one that does not exist as a text that is no date."""
    number = _HAN_NUMBERS.index(found[2]) + 1 if found[2] else int(found[1] or found[3])
    return f" {_MONTH_WORDS[number - 1]} " if 1 <= number <= len(_MONTH_WORDS) else " ? "


def _without_weekday(text: str) -> str:
    first, _, rest = text.partition(" ")
    return rest.strip() if first.strip(",.") in WEEKDAYS else text


def _read_iso_week(year: int, week: int, weekday: int) -> DateParts | None:
    try:
        day = date.fromisocalendar(year, week, weekday)
    except ValueError:
        return None
    return DateParts(day.year, day.month, day.day)


def _read_ordinal(year: int, ordinal: int) -> DateParts | None:
    if not 1 <= ordinal <= 366 or year < 1:
        return None
    day = date(year, 1, 1) + timedelta(days=ordinal - 1)
    return DateParts(day.year, day.month, day.day) if day.year == year else None


def _read_numeric(first: str, separator: str, middle: str, last: str) -> DateParts | None:
    """Three numbers: year first, or day and month if they are unambiguous."""
    if len(first) == 4 and len(last) <= 2:
        return DateParts(int(first), int(middle), int(last))
    if len(last) != 4 or len(first) > 2:
        return None
    a, b, year = int(first), int(middle), int(last)
    if separator == "." or a > 12 or a == b:  # with dots the day always comes first
        return DateParts(year, b, a)
    return DateParts(year, a, b) if b > 12 else None


def _read_named(words: list[str]) -> DateParts | None:
    """The name of a month, a day and a year, in any unambiguous order, with or without a weekday."""
    words = [word for word in words if word not in ",.-/|:"]
    if words and words[0] in WEEKDAYS and (words[0] not in MONTHS or len(words) > 3):
        words = words[1:]
    elif len(words) == 4:
        words = [word for word in words if word not in WEEKDAYS or word in MONTHS]
    if len(words) != 3:
        return None
    months = [MONTHS[word] for word in words if word in MONTHS]
    numbers = [word for word in words if word.isdecimal()]
    if len(months) != 1 or len(numbers) != 2:
        return None
    return _day_and_year(months[0], *numbers)


def _day_and_year(month: int, first: str, second: str) -> DateParts | None:
    if len(first) == 4 and len(second) <= 2:
        return DateParts(int(first), month, int(second))
    if len(first) > 2 or len(second) not in (2, 4):
        return None
    year = int(second)
    if len(second) == 2:  # RFC 2822's century
        year += 2000 if year < 50 else 1900
    return DateParts(year, month, int(first))
