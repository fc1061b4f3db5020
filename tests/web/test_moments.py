"""Times in a person's language and zone."""

from datetime import UTC, datetime, timedelta

import pytest

from feedmill.serve.web.moments import Moments, zone_named
from feedmill.serve.web.words import words

NOW = datetime(2026, 3, 5, 23, 30, tzinfo=UTC)
ENGLISH = Moments(words("en"), UTC, NOW)
IN_SHANGHAI = Moments(words("zh_CN"), zone_named("Asia/Shanghai"), NOW)


@pytest.mark.parametrize(
    ("ago", "english", "chinese"),
    [
        (timedelta(seconds=5), "now", "刚刚"),
        (timedelta(minutes=5), "5 min", "5 分钟"),
        (timedelta(hours=3, minutes=59), "3 h", "3 小时"),
        (timedelta(days=6), "6 d", "6 天"),
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


def test_what_is_to_come_is_told_by_how_long_it_takes() -> None:
    assert ENGLISH.until(NOW + timedelta(hours=2)) == "in 2 h"
    assert ENGLISH.until(NOW - timedelta(hours=2)) == "now"
    assert ENGLISH.until(None) == "–"


@pytest.mark.parametrize("name", ["", "Nowhere/At_All", "../../etc/passwd", "/etc/passwd", "\x00"])
def test_a_zone_that_nobody_knows_is_utc(name: str) -> None:
    assert zone_named(name) is UTC
