"""Dates as feeds write them."""

import sys
import zoneinfo
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from feedmill.collect.parsing.formats.dates import parse_date


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type,misc]


AFTERNOON = utc(2020, 1, 10, 14, 33)
SAME_MOMENT = [
    "Fri, 10 Jan 2020 14:33:00 GMT",
    "Fri, 10 Jan 2020 14:33:00 +0000",
    "10 Jan 2020 14:33 UT",
    "Fri, 10 Jan 2020 22:33:00 +08:00",
    "Fri, 10 Jan 2020 09:33:00 EST",
    "Fri, 10 Jan 20 15:33:00 CET",
    "Friday, 10-Jan-20 14:33:00 GMT",
    "Fri,10 Jan 2020 14:33:00GMT",
    "Fri, 10 Jan, 2020 14:33:00 UTC",
    "Fri, 10 Jan 2020 22:33:00 GMT+0800 (China Standard Time)",
    "Fri Jan 10 14:33:00 2020",
    "Fri Jan 10 14:33:00 +0000 2020",
    "Fri, 10 Jan 2020 02:33:00 PM",
    "Jan 10, 2020 2:33 pm",
    "January 10, 2020, 2:33 p.m.",
    "Friday, January 10, 2020 - 14:33",
    "10/Jan/2020:14:33:00 +0000",
    "2020-01-10T14:33:00Z",
    "2020-01-10T14:33:00.000+0000",
    "2020-01-10 14:33:00",
    "2020-01-10T14:33",
    "2020-01-10T22:33:00+08:00",
    "2020-01-10 22:33:00 +0800 CST",
    "2020/1/10 14:33:00",
    "2020-1-10 14:33",
    "2020.01.10 14:33",
    "10.01.2020 14:33",
    "20200110T143300Z",
    "20200110143300",
    "20200110T153300+0100",
    "20200110T093300.250-05",
    "20200110T1533+01:00",
    "1578666780",
    "1578666780000",
    "2020年1月10日 14:33:00",
    "2020年01月10日 下午2:33",
    "2020年1月10日 星期五 14时33分",
    "2020年1月10日(金) 14時33分",
    "2020年一月10日 14:33",
    "2020年1月10日 22:33 CST",
    "2020年1月10日 22:33 北京时间",
    "2020年1月10日 中午2:33",
    "周五, 10 1月 2020 22:33:00 +0800",
    "星期五, 10 一月 2020 14:33:00 GMT",
    "金, 10 1月 2020 23:33:00 +0900",
    "2020년 1월 10일 23시 33분",
    "2020년 01월 10일  23:33:00",
    "2020-01-10 오후 11:33:00",
    "2020. 1. 10. 오후 11:33:00",
    "2020년 1월 10일 (금) 14:33 GMT",
    "금, 10 1월 2020 23:33:00 +0900",
    "2020-január-10T9:33-05:00",
    "2020. jan. 10., péntek 14:33",
    "p, 10 jan. 2020 15:33:00 +0100",
    "pe, 10 tammi 2020 16:33:00 +0200",
    "10 tháng 1 2020 14:33",
    "الجمعة, 10 يناير 2020 14:33:00 GMT",
    "10 בינואר 2020 14:33",
    "10.01.2020, 14.33",
    "Fri, 10 Jan 2020 13:32:00 GMT-01:01",
    "Fri, 10 Jan 2020 22:33:00 UTC+08:00",
    "Fri, 10 Jan 2020 20:03:00 +5:30",
    "Fri, 10 Jan 2020 20:03:00 +05.30",
    "Fri, 10 Jan 2020 15:33:00 CET+0100",
    "2020-01-10 21:33:00 +0700 +07",
    "2020-01-10T14:33:00Z+00:00",
    "Fri, 10 Jan 2020 09:33:00 America/New_York",
    "2020-01-10 22:33:00 Asia/Shanghai",
    "2020-01-10T15:33:00[Europe/Berlin]",
    "2020-01-10T15:33:00+01:00[Europe/Berlin]",
    "Fri, 10 Jan 2020 09:33:00 Etc/GMT+5",
    "Fri, 10 Jan 2020 09:33:00 EST5EDT",
    "Fri, 10 Jan 2020 09:33:00 (EST)",
    "Fri, 10 Jan 2020 09:33:00 ET",
    "Fri, 10 Jan 2020 09:33:00 Eastern Standard Time",
    "Fri, 10 Jan 2020 14:33:00 Greenwich Mean Time",
    "Fri, 10 Jan 2020 06:33:00 Pacific Time",
    "1578666780.0",
    "10 de janeiro de 2020 14:33",
    "Sex, 10 Jan 2020 11:33:00 -0300",
    "10 janvier 2020 à 14h33",
    "ven., 10 janv. 2020 15:33:00 +0100",
    "Vie, 10 Ene 2020 15:33:00 +0100",
    "10. Januar 2020, 14:33 Uhr",
    "Пт, 10 янв 2020 17:33:00 +0300",
    "Пятница, 10 января 2020 г. 14:33",
    "pt., 10 sty 2020 15:33:00 +0100",
    "Παρ, 10 Ιαν 2020 16:33:00 EET",
    "10 Ocak 2020 14:33",
]
SAME_DAY = [
    "2020-01-10",
    "20200110",
    "Fri, 10 Jan 2020",
    "January 10, 2020",
    "10 January 2020",
    "Friday 10th January 2020",
    "2020年1月10日",
    "2020-W02-5",
    "2020-010",
    "2020 Jan 10",
    "10.1.2020",
    "2020. 1. 10.",
]
NOT_UNDERSTOOD = [
    "",
    "   ",
    "today",
    "5 minutes ago",
    "01/02/2020",
    "1/10/2020 2:33:00 PM",
    "03-12-31",
    "31 Feb 2020 10:00 GMT",
    "2020-13-01",
    "2020-01-10T25:00:00Z",
    "2020-01-10T10:61:00Z",
    "Sun, 16 zzz 2012 11:47:32 GMT",
    "0001-01-01T00:00:00Z",
    "Mon, 01 Jan 0001 00:00:00 +0000",
    "2013-01-27-01",
    "2013-01-28T11:30:00-06:00Textra",
    "Sun, 16 Dec 2012 1:2:3:4 GMT",
    "Sun, 16 Dec 2012 11:47:32 +zz:00",
    "Mon, 10 Jan 2020 14:33:00 XYZ",
    "22013",
    "2020-01-10T14:33:00+23:00",
    "10 listopada 2020",
    "1" * 100_000,
    "9999-12-31T23:59:59-99:99",
    "9999-12-31 24:00:00 Z",
    "0001-01-01 00:00:00 Europe/Paris",
    "Fri, 10 Jan 2020 14:33:00 A",
    "Fri, 10 Jan 2020 14:33:00 (XYZ)",
    "Fri, 10 Jan 2020 14:33:00 Middle/Earth",
    "Fri, 10 Jan 2020 14:33:00 ../../etc/passwd",
    "Fri, 10 Jan 2020 14:33:00 Wizard Standard Time",
    "Fri, 10 Jan 2020 14:33:00 EST+0500",
    "Fri, 10 Jan 2020 14:33:00 15:33:00",
    "2020年13月10日",
    "2020-01-10 晚上 12:10",
    "2020-01-10 中午 5:10",
    "20200110T153300+9900",
    "20200110+0100",
    "30.08.12 17:26",
    "29 Mar 2020 02:30 Europe/Berlin",
    "25 Oct 2020 02:30 Europe/Berlin",
]


@pytest.mark.parametrize("text", SAME_MOMENT)
def test_every_spelling_of_a_moment_is_that_moment(text: str) -> None:
    assert parse_date(text) == AFTERNOON


@pytest.mark.parametrize("text", SAME_DAY)
def test_a_day_without_a_time_is_its_first_moment(text: str) -> None:
    assert parse_date(text) == utc(2020, 1, 10)


@pytest.mark.parametrize("text", NOT_UNDERSTOOD)
def test_an_impossible_or_ambiguous_date_is_none(text: str) -> None:
    assert parse_date(text) is None


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("25/12/2020 10:00", utc(2020, 12, 25, 10)),
        ("12/25/2020 10:00", utc(2020, 12, 25, 10)),
        ("05/05/2020", utc(2020, 5, 5)),
        ("2020-01-10T24:00:00Z", utc(2020, 1, 11)),
        ("2016-12-31T23:59:60Z", utc(2017, 1, 1)),
        ("12:00 AM Jan 10 2020", utc(2020, 1, 10)),
        ("Jan 10 2020 12:15 PM", utc(2020, 1, 10, 12, 15)),
        ("10 Jan 49 00:00 GMT", utc(2049, 1, 10)),
        ("10 Jan 99 00:00 GMT", utc(1999, 1, 10)),
        ("2020年1月10日 中午12:15", utc(2020, 1, 10, 12, 15)),
        ("2020年1月10日 中午11:50", utc(2020, 1, 10, 11, 50)),
        ("2020年1月10日 傍晚6:15", utc(2020, 1, 10, 18, 15)),
        ("2020-02", utc(2020, 2, 1)),
        ("2020", utc(2020, 1, 1)),
        ("10 Março 2020", utc(2020, 3, 10)),
        ("10 Jul 2020 14:33 Europe/Berlin", utc(2020, 7, 10, 12, 33)),
        ("10 Jul 2020 14:33 ET", utc(2020, 7, 10, 18, 33)),
        ("mar, 10 mar 2020 10:00:00 +0000", utc(2020, 3, 10, 10)),
    ],
)
def test_the_edges_of_dates(text: str, moment: datetime) -> None:
    assert parse_date(text) == moment


def test_parsed_dates_are_in_utc() -> None:
    read = parse_date("Fri, 10 Jan 2020 22:33:00 +0800")

    assert read is not None
    assert read.tzinfo is UTC


@pytest.fixture
def no_time_zone_database(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "tzdata", None)
    zoneinfo.reset_tzpath(to=[])
    zoneinfo.ZoneInfo.clear_cache()
    yield
    zoneinfo.reset_tzpath()


@pytest.mark.usefixtures("no_time_zone_database")
def test_without_a_time_zone_database_a_time_in_a_region_is_unknown() -> None:
    assert parse_date("Mon, 2 Feb 2026 10:00 ET") is None
    assert parse_date("Mon, 2 Feb 2026 10:00 EST") == datetime(2026, 2, 2, 15, tzinfo=UTC)
