"""A message is a code with parameters: it can be stored, and each language makes its sentence of it."""

from copy import deepcopy
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedmill.i18n.english import format_duration
from feedmill.i18n.messages import Message, message_from_stored, message_or_none, message_to_stored, verbatim
from feedmill.i18n.translator import translator

HOUR = timedelta(hours=1)
NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
BACKOFF = Message(
    "schedule.retry",
    because=Message("schedule.failed", n=3, what=Message("fetch.connection_refused")),
)


def test_a_message_is_english_text_as_a_string() -> None:
    assert str(BACKOFF) == (
        "a retry, because it failed 3 times in a row, the last time with: the server refuses the connection"
    )


def test_a_language_writes_the_whole_message_with_its_own_plurals_and_units() -> None:
    assert translator("zh_CN").render(BACKOFF) == "重试，因为已连续失败 3 次，最近一次是：服务器拒绝了连接"
    assert translator("en").render(Message("schedule.every", length=1.5 * HOUR)) == "every 1.5 hrs"
    assert translator("en").render(Message("explain.new_entries", n=1)) == "brought 1 new entry"
    assert translator("en").render(Message("explain.new_entries", n=1234)) == "brought 1,234 new entries"


@given(st.text(), st.integers(min_value=-(2**53), max_value=2**53), st.timedeltas(min_value=timedelta()))
def test_a_stored_message_comes_back_with_its_parts(text: str, n: int, length: timedelta) -> None:
    length -= timedelta(microseconds=length.microseconds)
    said = Message("a.b", part=Message("c.d", length=length), text=text, n=n)

    assert message_from_stored(message_to_stored(said)) == said == deepcopy(said)


def test_a_row_keeps_the_code_and_no_sentence() -> None:
    assert message_to_stored(Message("schedule.every", length=HOUR)) == (
        '{"code":"schedule.every","length":{"seconds":3600.0}}'
    )


@pytest.mark.parametrize("text", ["a sentence of old", "{curly}", '{"seconds": 3}', '{"code":', '{"code":5}', "[1]"])
def test_what_is_stored_and_is_no_message_is_shown_as_it_stands(text: str) -> None:
    assert message_from_stored(text) == verbatim(text)
    assert str(message_from_stored(text)) == translator("zh_CN").render(message_from_stored(text)) == text


def test_nothing_stored_is_no_message() -> None:
    assert (message_or_none(None), message_or_none("")) == (None, None)


@pytest.mark.parametrize("code", ["schedule.from_a_newer_version", "nowhere.at_all", "", "../en/schedule.every"])
def test_an_unknown_code_is_shown_itself(code: str) -> None:
    unknown = Message(code, length=HOUR)

    assert str(unknown) == translator("zh_CN").render(unknown) == code


def test_a_parameter_that_a_row_lacks_is_shown_as_missing() -> None:
    assert str(Message("schedule.every")) == "every …"
    assert translator("zh_CN").render(Message("schedule.every")) == "每 …一次"


def test_moments_are_by_the_clock_of_the_reader() -> None:
    shown = Message("explain.clock_time", at=NOW)

    assert (str(shown), translator("en").render(shown)) == ("08:30 UTC", "08:30 UTC")
    assert translator("zh_CN").render(Message("explain.former_url", until=NOW, url="http://a/")) == (
        "2026年2月18日以前它的地址是 http://a/。"
    )


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (1, "1 s"),
        (89, "89 s"),
        (90, "2 min"),
        (1800, "30 min"),
        (5400, "1.5 h"),
        (86400, "24 h"),
        (129600, "1.5 days"),
        (604800, "7 days"),
        (45 * 86400 + 40_000, "45 days"),
        (1065.5 * 86400, "3 years"),
    ],
)
def test_durations_in_english_need_no_babel(seconds: int, words: str) -> None:
    assert format_duration(timedelta(seconds=seconds)) == words
