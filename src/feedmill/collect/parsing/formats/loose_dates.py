"""Parses dates in non-standard forms word by word; None if any word is not understood."""

import re
import unicodedata
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta

from feedmill.collect.parsing.formats.date_words import AFTERNOON, FILLERS, MONTHS, WEEKDAYS, ZONES


@dataclass(frozen=True, slots=True)
class DateParts:
    """The parts of a date; the offset is in minutes east of Greenwich."""

    year: int
    month: int
    day: int
    hour: int = 0
    minute: int = 0
    second: int = 0
    offset: int = 0


_HALF = r"am|pm|a\.m\.?|p\.m\.?|上午|下午|午前|午後|오전|오후|凌晨|早上|晚上"
_TIME = re.compile(
    rf"(?:(?P<before>{_HALF})\s*)?(?<!\d)(?P<hour>\d{{1,2}})"
    r"(?::(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d+)?)?(?![\d:])"
    r"|\s*(?:時|时|点|點|시)\s*(?P<minute2>\d{1,2})\s*(?:分|분)(?:\s*(?P<second2>\d{1,2})\s*(?:秒|초))?"
    r"|h(?P<minute3>\d\d)(?!\d)"
    rf"|(?=\s*(?:am|pm)\b))"
    rf"\s*(?P<after>(?:{_HALF})(?![^\W\d]))?"
)
_OFFSET = re.compile(r"\s*(?:gmt|utc|ut|z)?\s*([+\-−])\s?(\d{1,2})(?::?(\d\d))?(?!\d)")
_REMARK = re.compile(r"\s*[(\[][^()\[\]]*[)\]]\s*$")
_WORD = re.compile(r"\d+|[^\W\d_]+(?:[-/][^\W\d_]+)*|[^\s\w]")
_ISO_WEEK = re.compile(r"(\d{4})-?w(\d\d)(?:-?([1-7]))?")
_ORDINAL = re.compile(r"(\d{4})-?(\d{3})")
_COMPACT = re.compile(r"((?:19|20)\d\d)(\d\d)(\d\d)(?:t?(\d\d)(\d\d)(\d\d)?z?)?")
_TRUNCATED = re.compile(r"((?:19|20)\d\d)(?:-(\d\d))?")
_EPOCH = re.compile(r"(1\d{9})(\d{3})?")
_NUMERIC = re.compile(r"(\d{1,4})\s*([-/.])\s*(\d{1,2})\s*\2\s*(\d{1,4})\.?")
_CJK = re.compile(r"(\d{4})\s*[年년]\s*(\d{1,2})\s*[月월]\s*(\d{1,2})\s*[日号號일]")
_TIME_MARK = re.compile(r"(?<=\d)t\s*$")
_ORDINAL_SUFFIX = re.compile(r"(?<=\d)(?:st|nd|rd|th|er|º|ª|\.)(?=[\s,]|$)")
_CJK_WEEKDAY = re.compile(
    r"\(?(?:星期|週|周|礼拜)[一二三四五六日天]\)?|\(?[月火水木金土日]曜日\)?|\(?[월화수목금토일]요일\)?"
)


def parse_loose_date(text: str) -> DateParts | None:
    """Parses a date in a non-standard form; None if a part of it is unknown or ambiguous."""
    text = unicodedata.normalize("NFKC", text).lower().strip().strip("\"'")
    return _read_number(text) or _read_words(_REMARK.sub("", text))


def _read_number(text: str) -> DateParts | None:
    """Dates that are one number (Unix time, `20260218083000`), and year or month alone."""
    if found := _EPOCH.fullmatch(text):
        return _from_datetime(datetime.fromtimestamp(int(found[1]), UTC))
    if found := _COMPACT.fullmatch(text):
        return DateParts(*(int(part or 0) for part in found.groups()))
    if found := _TRUNCATED.fullmatch(text):
        return DateParts(int(found[1]), int(found[2] or 1), 1)
    return None


def _from_datetime(moment: datetime) -> DateParts:
    return DateParts(moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second)


def _read_words(text: str) -> DateParts | None:
    times = list(_TIME.finditer(text))
    if len(times) > 1:
        return None
    if not times:
        return _read_day(text)
    time = times[0]
    offset, rest = _read_zone(text[time.end() :])
    day = _read_day(f"{text[: time.start()]} {rest}")
    clock = _read_clock(time)
    if day is None or clock is None:
        return None
    hour, minute, second = clock
    return replace(day, hour=hour, minute=minute, second=second, offset=offset)


def _read_clock(time: re.Match[str]) -> tuple[int, int, int] | None:
    hour = int(time["hour"])
    minute = int(time["minute"] or time["minute2"] or time["minute3"] or 0)
    second = int(time["second"] or time["second2"] or 0)
    half = time["before"] or time["after"]
    if half is None:
        return hour, minute, second
    if time["before"] and time["after"]:
        return None
    if half in AFTERNOON:
        return (hour + 12 if hour < 12 else hour), minute, second
    return None if hour > 12 else (hour % 12, minute, second)


def _read_zone(text: str) -> tuple[int, str]:
    """The offset at the beginning of the text after a time, and the remaining text."""
    if found := _OFFSET.match(text):
        minutes = int(found[2]) * 60 + int(found[3] or 0)
        rest = text[found.end() :].lstrip()
        word = rest.split(" ", 1)
        rest = rest if word[0] not in ZONES else "".join(word[1:])  # "+0800 CST": the number is unambiguous
        return (minutes if found[1] == "+" else -minutes), rest
    words = text.split(None, 1)
    if words and words[0].rstrip(".,") in ZONES:
        return ZONES[words[0].rstrip(".,")], "".join(words[1:])
    return 0, text


def _read_day(text: str) -> DateParts | None:
    text = _TIME_MARK.sub("", _CJK_WEEKDAY.sub(" ", text)).strip(" ,-|")
    if found := _ISO_WEEK.fullmatch(text):
        return _read_iso_week(int(found[1]), int(found[2]), int(found[3] or 1))
    if found := _ORDINAL.fullmatch(text):
        return _read_ordinal(int(found[1]), int(found[2]))
    if found := _CJK.fullmatch(text):
        return DateParts(int(found[1]), int(found[2]), int(found[3]))
    words = [word for word in _WORD.findall(_ORDINAL_SUFFIX.sub("", text)) if word not in FILLERS]
    numeric = _NUMERIC.fullmatch(_without_weekday(text))
    return _read_numeric(*numeric.groups()) if numeric else _read_named(words)


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
    """The name of a month, a day and a year, in any unambiguous order."""
    words = [word for word in words if word not in ",.-/|:"]
    if words and words[0] in WEEKDAYS and (words[0] not in MONTHS or len(words) > 3):
        words = words[1:]
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
