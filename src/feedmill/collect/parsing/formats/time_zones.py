"""Time zones as dates name them: offsets, abbreviations, English names, and regions like `Europe/Paris`."""

import re
from functools import cache
from typing import NamedTuple
from zoneinfo import available_timezones

# Minutes east of Greenwich. A name with several meanings has that of RFC 822, else the one seen in feeds. The
# one-letter zones are left out: RFC 822 gave them the wrong sign, so RFC 5322 says that they mean nothing.
ZONES = {
    "z": 0,
    "ut": 0,
    "utc": 0,
    "gmt": 0,
    "wet": 0,
    "est": -300,
    "edt": -240,
    "cst": -360,
    "cdt": -300,
    "mst": -420,
    "mdt": -360,
    "pst": -480,
    "pdt": -420,
    "akst": -540,
    "akdt": -480,
    "hst": -600,
    "ast": -240,
    "adt": -180,
    "nst": -210,
    "ndt": -150,
    "bst": 60,
    "west": 60,
    "cet": 60,
    "cest": 120,
    "cedt": 120,
    "met": 60,
    "mest": 120,
    "mez": 60,
    "mesz": 120,
    "wat": 60,
    "cat": 120,
    "eat": 180,
    "eet": 120,
    "eest": 180,
    "sast": 120,
    "idt": 180,
    "msk": 180,
    "msd": 240,
    "trt": 180,
    "yekt": 300,
    "pkt": 300,
    "ist": 330,
    "npt": 345,
    "wib": 420,
    "ict": 420,
    "wita": 480,
    "hkt": 480,
    "sgt": 480,
    "myt": 480,
    "pht": 480,
    "awst": 480,
    "jst": 540,
    "kst": 540,
    "acst": 570,
    "acdt": 630,
    "aest": 600,
    "aedt": 660,
    "nzst": 720,
    "nzdt": 780,
    "brt": -180,
    "art": -180,
    "uyt": -180,
    "etc/gmt": 0,
    "etc/utc": 0,
    "北京时间": 480,
    "北京時間": 480,
    "台北時間": 480,
    "日本時間": 540,
    "한국시간": 540,
}
_LONG_NAMES = {
    "coordinated universal": 0,
    "universal": 0,
    "greenwich mean": 0,
    "western european": 0,
    "western european standard": 0,
    "western european summer": 60,
    "british summer": 60,
    "central european": 60,
    "central european standard": 60,
    "central european summer": 120,
    "eastern european": 120,
    "eastern european standard": 120,
    "eastern european summer": 180,
    "moscow standard": 180,
    "eastern standard": -300,
    "eastern daylight": -240,
    "central standard": -360,
    "central daylight": -300,
    "mountain standard": -420,
    "mountain daylight": -360,
    "pacific standard": -480,
    "pacific daylight": -420,
    "alaska standard": -540,
    "alaska daylight": -480,
    "hawaii standard": -600,
    "atlantic standard": -240,
    "atlantic daylight": -180,
    "india standard": 330,
    "china standard": 480,
    "hong kong standard": 480,
    "singapore standard": 480,
    "taipei standard": 480,
    "japan standard": 540,
    "korea standard": 540,
    "korean standard": 540,
    "australian eastern standard": 600,
    "australian eastern daylight": 660,
    "new zealand standard": 720,
    "new zealand daylight": 780,
}
# Zones with summer time, whose offset depends on the day.
_REGIONS = {
    "at": "America/Halifax",
    "et": "America/New_York",
    "ct": "America/Chicago",
    "mt": "America/Denver",
    "pt": "America/Los_Angeles",
    "eastern time": "America/New_York",
    "central time": "America/Chicago",
    "mountain time": "America/Denver",
    "pacific time": "America/Los_Angeles",
}
_CHINA = 480
_OFFSET = re.compile(r"(?:([a-z]{1,5})\s?)?([+\-−])\s?(\d{1,2})(?:[:.]?([0-5]\d))?(?![\d:])")
_REPEATED_OFFSET = re.compile(r"[+-]\d\d(?:\d\d)?(?!\d)\s*")
_NAME = re.compile(r"[a-z]+(?: [a-z]+){0,3} time\b")
_REGION = re.compile(r"[a-z_]+(?:/[a-z_]+(?:-[a-z_]+)*)+(?:[+-]\d{1,2})?|[a-z]{3}\d[a-z]{3}")


class TimeZone(NamedTuple):
    """Either an offset in minutes east of Greenwich, or the name of a region in the time zone database."""

    offset: int = 0
    region: str | None = None


UTC_ZONE = TimeZone()
KOREA = TimeZone(540)


def read_zone(text: str, *, is_chinese: bool = False) -> tuple[TimeZone | None, str]:
    """The time zone at the beginning of a text in lower case, None if there is none, and the text after it."""
    if found := _OFFSET.match(text):
        return _read_offset(found, text)
    for pattern, read in ((_REGION, _read_region), (_NAME, _read_name)):
        if (found := pattern.match(text)) and (zone := read(found[0])):
            return zone, text[found.end() :].lstrip()
    word, _, rest = text.partition(" ")
    word = word.rstrip(".,")
    if is_chinese and word == "cst":
        return TimeZone(_CHINA), rest
    if word in _REGIONS:
        return TimeZone(region=_REGIONS[word]), rest
    return (TimeZone(ZONES[word]), rest) if word in ZONES else (None, text)


def _read_offset(found: re.Match[str], text: str) -> tuple[TimeZone | None, str]:
    """An offset, after the name of a zone that agrees with it, and before any that says the same again."""
    minutes = int(found[3]) * 60 + int(found[4] or 0)
    offset = minutes if found[2] == "+" else -minutes
    if found[1] and ZONES.get(found[1]) not in (0, offset):
        return None, text
    rest = _REPEATED_OFFSET.sub("", text[found.end() :].lstrip(), count=1)
    word, _, after = rest.partition(" ")
    return TimeZone(offset), after if word.rstrip(".,") in ZONES else rest  # "+0800 CST": the number is unambiguous


def _read_name(name: str) -> TimeZone | None:
    if name in _REGIONS:
        return TimeZone(region=_REGIONS[name])
    offset = _LONG_NAMES.get(name.removesuffix(" time"))
    return None if offset is None else TimeZone(offset)


def _read_region(name: str) -> TimeZone | None:
    region = _regions().get(name)
    return TimeZone(region=region) if region else None


@cache
def _regions() -> dict[str, str]:
    """The names in the time zone database by their lower-case form."""
    return {name.lower(): name for name in available_timezones()}
