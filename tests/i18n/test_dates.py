"""Times in a person's language and zone."""

from datetime import UTC, datetime, timedelta

import pytest

from feedmill.collect.entries.changes import BELOW_ALL_DATES
from feedmill.i18n.dates import DateFormatter, time_zone
from feedmill.i18n.translator import translator

NOW = datetime(2026, 3, 5, 23, 30, tzinfo=UTC)
ENGLISH = DateFormatter(translator("en"), UTC, NOW)
IN_SHANGHAI = DateFormatter(translator("zh_CN"), time_zone("Asia/Shanghai"), NOW)


@pytest.mark.parametrize(
    ("ago", "english", "chinese"),
    [
        (timedelta(seconds=-60), "now", "刚刚"),
        (timedelta(seconds=5), "now", "刚刚"),
        (timedelta(seconds=59.9), "now", "刚刚"),
        (timedelta(seconds=60), "1 min ago", "1 分钟前"),
        (timedelta(minutes=5), "5 min ago", "5 分钟前"),
        (timedelta(minutes=59.9), "59 min ago", "59 分钟前"),
        (timedelta(minutes=60), "1 hr ago", "1 小时前"),
        (timedelta(hours=3, minutes=59), "3 hr ago", "3 小时前"),
        (timedelta(hours=23.9), "23 hr ago", "23 小时前"),
        (timedelta(hours=24), "1 day ago", "1 天前"),
        (timedelta(days=6), "6 days ago", "6 天前"),
        (timedelta(days=6.99), "6 days ago", "6 天前"),
        (timedelta(days=7), "26 Feb", "2月27日"),
        (timedelta(days=10), "23 Feb", "2月24日"),
        (timedelta(days=80), "15 Dec 2025", "2025年12月16日"),
        (timedelta(hours=-2), "6 Mar", "3月6日"),
    ],
)
def test_an_age_is_short_and_becomes_a_day(ago: timedelta, english: str, chinese: str) -> None:
    assert (ENGLISH.age(NOW - ago), IN_SHANGHAI.age(NOW - ago)) == (english, chinese)


def test_a_whole_date_tells_its_zone() -> None:
    assert ENGLISH.full("2026-03-05T23:30:00.000Z") == "5 March 2026, 23:30 UTC"
    assert IN_SHANGHAI.full("2026-03-05T23:30:00.000Z") == "2026年3月6日 07:30 CST"


@pytest.mark.parametrize(
    ("ahead", "english", "chinese"),
    [
        (timedelta(hours=-2), "now", "即将"),
        (timedelta(seconds=59), "now", "即将"),
        (timedelta(seconds=60), "in 1 min", "1 分钟后"),
        (timedelta(minutes=59.4), "in 59 mins", "59 分钟后"),
        (timedelta(minutes=59.6), "in 1 hr", "1 小时后"),
        (timedelta(minutes=60), "in 1 hr", "1 小时后"),
        (timedelta(hours=2), "in 2 hrs", "2 小时后"),
        (timedelta(hours=23.4), "in 23 hrs", "23 小时后"),
        (timedelta(hours=23.6), "in 1 day", "1 天后"),
        (timedelta(days=6.9), "in 7 days", "7 天后"),
    ],
)
def test_what_is_to_come_is_told_by_how_long_it_takes(ahead: timedelta, english: str, chinese: str) -> None:
    assert (ENGLISH.until(NOW + ahead), IN_SHANGHAI.until(NOW + ahead)) == (english, chinese)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "0 secs"),
        (0.4, "0 secs"),
        (59.4, "59 secs"),
        (59.6, "1 min"),
        (3599, "1 hr"),
        (86_399, "1 day"),
        (timedelta(days=30), "30 days"),
    ],
)
def test_a_length_is_reported_in_the_largest_unit_that_it_fills(seconds: float | timedelta, told: str) -> None:
    assert ENGLISH.length(seconds) == told


def test_a_moment_that_nobody_knows_is_a_dash() -> None:
    assert (ENGLISH.age(None), ENGLISH.until(None)) == ("–", "–")


@pytest.mark.parametrize("name", ["", "Nowhere/At_All", "../../etc/passwd", "/etc/passwd", "\x00"])
def test_a_zone_that_nobody_knows_is_utc(name: str) -> None:
    assert time_zone(name) is UTC


@pytest.mark.parametrize("zone", ["Pacific/Honolulu", "Asia/Shanghai"])
def test_what_lists_put_below_all_dates_has_a_heading_without_a_day(zone: str) -> None:
    when = DateFormatter(translator("zh_CN"), time_zone(zone), NOW)

    assert when.day_heading(BELOW_ALL_DATES) == "无日期"
    assert when.day_heading("1900-01-02T12:00:00.000Z") == "1900年1月2日周二"
