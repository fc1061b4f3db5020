"""Parses dates in non-standard forms word by word; None if any word is not understood."""

import re
import unicodedata
from dataclasses import replace
from datetime import UTC, datetime

from feedmill.collect.parsing.formats.calendar_day import DateParts, read_day
from feedmill.collect.parsing.formats.date_words import AFTERNOON, FILLERS, LAST_WORDS, NOON, NOON_HOURS
from feedmill.collect.parsing.formats.time_zones import KOREA, UTC_ZONE, TimeZone, read_zone

_HALF = r"am|pm|a\.m\.?|p\.m\.?|上午|下午|午前|午後|오전|오후|凌晨|清晨|早上|中午|傍晚|晚上"
_TIME = re.compile(
    rf"(?:(?P<before>{_HALF})\s*)?(?<!\d)(?P<hour>\d{{1,2}})"
    r"(?::(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d+)?)?(?![\d:])"
    r"|\s*(?:時|时|点|點|시)\s*(?P<minute2>\d{1,2})\s*(?:分|분)(?:\s*(?P<second2>\d{1,2})\s*(?:秒|초))?"
    r"|h(?P<minute3>\d\d)(?!\d)"
    rf"|(?=\s*(?:am|pm)\b))"
    rf"\s*(?P<after>(?:{_HALF})(?![^\W\d]))?"
)
_DOTTED_TIME = re.compile(r"(?<=[\s,t])(?P<hour>\d{1,2})\.(?P<minute>\d\d)(?:\.(?P<second>\d\d))?(?![\d.])")
_REMARK = re.compile(r"\s*[(\[]([^()\[\]]*)[)\]]\s*$")
_COMPACT = re.compile(r"((?:19|20)\d\d)(\d\d)(\d\d)(?:t?(\d\d)(\d\d)(?:(\d\d)(?:[.,]\d+)?)?(z|[+-]\d\d(?::?\d\d)?)?)?")
_TRUNCATED = re.compile(r"((?:19|20)\d\d)(?:-(\d\d))?")
_EPOCH = re.compile(r"(1\d{9})(\d{3}|\.\d{1,9})?")
_HANGUL = re.compile("[가-힣]")
_HAN = re.compile("[一-鿿]")


def parse_loose_date(text: str) -> DateParts | None:
    """Parses a date in a non-standard form; None if a part of it is unknown or ambiguous."""
    text = unicodedata.normalize("NFKC", text).lower().replace('"', "").strip().strip("'")
    return _read_number(text) or _read_words(text)


def _read_number(text: str) -> DateParts | None:
    """Dates that are one number (Unix time, `20260218083000`), and year or month alone."""
    if found := _EPOCH.fullmatch(text):
        return _from_datetime(datetime.fromtimestamp(int(found[1]), UTC))
    if found := _COMPACT.fullmatch(text):
        year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
        zone, _ = read_zone(found[7] or "z")
        return DateParts(year, month, day, hour, minute, second, zone or UTC_ZONE)
    if found := _TRUNCATED.fullmatch(text):
        return DateParts(int(found[1]), int(found[2] or 1), 1)
    return None


def _from_datetime(moment: datetime) -> DateParts:
    return DateParts(moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second)


def _read_words(text: str) -> DateParts | None:
    found = _REMARK.search(text)
    remark, text = (found[1], text[: found.start()]) if found else ("", text)
    time = _TIME.search(text) or _DOTTED_TIME.search(text)
    if time is None:
        return read_day(text)
    zone, rest = read_zone(text[time.end() :].lstrip(), is_chinese=bool(_HAN.search(text)))
    zone = zone or _zone_of(remark, text)
    if zone is None or rest in FILLERS - LAST_WORDS:
        return None
    day = read_day(f"{text[: time.start()]} {rest}")
    clock = _read_clock(time)
    if day is None or clock is None:
        return None
    hour, minute, second = clock
    return replace(day, hour=hour, minute=minute, second=second, zone=zone)


def _zone_of(remark: str, text: str) -> TimeZone | None:
    """The zone of a time that has none beside it; None if there is a remark that might be one.

    Korea has one zone, and its programs write dates in Korean without it.
    """
    if remark:
        zone, rest = read_zone(remark)
        return zone if not rest else None
    return KOREA if _HANGUL.search(text) else UTC_ZONE


def _read_clock(time: re.Match[str]) -> tuple[int, int, int] | None:
    parts = time.groupdict()
    hour = int(parts["hour"])
    minute = int(parts["minute"] or parts.get("minute2") or parts.get("minute3") or 0)
    second = int(parts["second"] or parts.get("second2") or 0)
    before, after = parts.get("before"), parts.get("after")
    half = before or after
    if half is None:
        return hour, minute, second
    if (before and after) or (half == "晚上" and hour == 12):
        return None
    if half == NOON:
        return (NOON_HOURS[hour], minute, second) if hour in NOON_HOURS else None
    if half in AFTERNOON:
        return (hour + 12 if hour < 12 else hour), minute, second
    return None if hour > 12 else (hour % 12, minute, second)
