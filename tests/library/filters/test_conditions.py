"""Conditions of filters: the search language about the entry itself, with regular expressions."""

from datetime import UTC, datetime
from typing import Any

import pytest

from feedmill.library.filters import regular_expressions
from feedmill.library.filters.conditions import BadCondition, constant_condition
from feedmill.library.filters.entry_facts import EntryFacts, holds, words_needed
from feedmill.model.parsed_feed import Enclosure
from feedmill.model.search_query import DateRange, InFeeds
from feedmill.optional_imports import MissingExtra
from tests.library.small_library import NOW, new_entry

AUDIO = Enclosure("https://example.org/1.mp3", "audio/mpeg")


def facts(title: str = "Kilns for beginners", **more: Any) -> EntryFacts:
    given = {
        name: more.pop(name) for name in ("feed_id", "at", "language", "has_picture", "enclosures") if name in more
    }
    return EntryFacts(new_entry(title, NOW, **more), **given)


def matches(condition: str, entry: EntryFacts) -> bool:
    parsed = constant_condition(condition)
    assert parsed is not None
    return holds(parsed, entry)


@pytest.mark.parametrize(
    ("condition", "is_match"),
    [
        ("kilns", True),
        ("KILNS", True),
        ("kiln", False),
        ("kil*", True),
        ('"kilns for"', True),
        ('"for kilns"', False),
        ("in:title:clay", False),
        ("in:text:clay", True),
        ("author:ann", True),
        ("-clay", False),
        ("glaze OR clay", True),
        ("site:example.org", True),
        ("site:example.com", False),
        ("has:audio", True),
        ("has:enclosure", True),
        ("has:image", False),
        ("lang:en", True),
        ("lang:de", False),
        ("lang:en -has:video", True),
    ],
)
def test_a_condition_is_about_the_entry(condition: str, is_match: bool) -> None:
    entry = facts(author="Ann Potter", content_html="<p>Of clay</p>", language="en-GB", enclosures=(AUDIO,))

    assert matches(condition, entry) is is_match


def test_chinese_words_are_found_within_a_sentence() -> None:
    assert matches("人工智能", facts("关于人工智能的新闻"))
    assert not matches("智人", facts("关于人工智能的新闻"))


@pytest.mark.parametrize(
    ("condition", "is_match"),
    [
        ("/kiln[sx]/", True),
        ("/KILNS/", True),
        ("/(?-i:KILNS)/", False),
        ("in:title:/^kilns/", True),
        ("in:title /^for/", False),
        (r"in:url:/example\.org\/kilns/", True),
        ("in:text:/clay/", True),
        ("/beginners$/ -/clay/", False),
        ("(/x/ OR /kilns/) beginners", True),
    ],
)
def test_a_regular_expression_ignores_case_and_keeps_to_its_field(condition: str, is_match: bool) -> None:
    entry = facts(content_html="<p>Of clay</p>", link="https://example.org/kilns")

    assert matches(condition, entry) is is_match


def test_dates_are_compared_with_the_time_of_the_entry() -> None:
    assert constant_condition("after:2026-01-01") is None
    assert constant_condition("feed:potters") is None
    assert holds(InFeeds((3,)), facts(feed_id=3))


@pytest.mark.parametrize(
    ("condition", "code", "position"),
    [
        ("kilns is:unread", "bad_condition.not_at_arrival", 6),
        ("#work", "bad_condition.not_at_arrival", 0),
        ('kilns "glaze', "bad_search.open_quote", 6),
        ("kilns /glaze", "bad_search.open_regex", 6),
        ("in:title:/(/", "bad_condition.bad_regex", 0),
        (r"kilns /(a)\1/", "bad_condition.bad_regex", 6),
        (f"/{'a' * 201}/", "bad_condition.long_regex", 0),
        ("/(?:a{100}){9}/", "bad_condition.large_regex", 0),
        ("/a/ /b/ /c/ /d/ /e/ /f/", "bad_condition.many_regexes", 20),
        (" ".join("w" for _ in range(10_000)), "bad_search.too_long", 1000),
        (" ".join("w" for _ in range(51)), "bad_search.too_many", 100),
        ("", "bad_search.empty", 0),
    ],
)
def test_what_is_wrong_with_a_condition_has_a_code_and_a_position(condition: str, code: str, position: int) -> None:
    with pytest.raises(BadCondition) as error:
        constant_condition(condition)

    assert (error.value.reason.code, error.value.position) == (code, position)


def test_without_re2_a_regular_expression_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise MissingExtra("no re2")

    monkeypatch.setattr(regular_expressions, "import_by_name", missing)

    with pytest.raises(BadCondition, match=r"feedmill\[regex\]"):
        constant_condition("/never compiled before/")


@pytest.mark.parametrize(
    ("condition", "needed"),
    [
        ("kilns", {"kilns"}),
        ('"a kiln for beginners"', {"beginners"}),
        ("kiln*", {"kiln*"}),
        ("kiln* OR clay", {"kiln*", "clay"}),
        ("kilns glaze*", {"kilns"}),
        ("kilns OR clay", {"kilns", "clay"}),
        ("kilns OR has:image", None),
        ("-kilns", None),
        ("clay (kilns OR glaze)", {"clay"}),
        ("/kilns/", None),
    ],
)
def test_an_entry_without_the_words_that_a_condition_needs_is_passed_over(
    condition: str, needed: set[str] | None
) -> None:
    parsed = constant_condition(condition)

    assert parsed is not None
    assert words_needed(parsed) == needed


def test_the_time_of_an_entry_is_compared_in_whole_seconds() -> None:
    at = datetime(2026, 1, 1, 0, 0, 0, 500_000, tzinfo=UTC)

    assert holds(DateRange(since=at.replace(microsecond=900_000)), facts(at=at))
    assert not holds(DateRange(until=at.replace(microsecond=900_000)), facts(at=at))
