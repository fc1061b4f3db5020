"""The search language: the meaning of each expression, and the position of errors."""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from feedmill.i18n.translator import translator
from feedmill.library.search.errors import BadSearch
from feedmill.library.search.query_parser import MOST_DEPTH, parse_query
from feedmill.library.search.query_tokens import MOST_CHARACTERS, MOST_TERMS, tokenize
from feedmill.model.search_query import (
    And,
    DateRange,
    HasLabel,
    HasMedia,
    HasState,
    InFeeds,
    InLanguage,
    Not,
    Or,
    SearchCondition,
    TextMatch,
)
from feedmill.store.search.tokenizer import site_word

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
A, B, C, D = (TextMatch((letter,)) for letter in "abcd")
FEED, FOLDER, LABEL = InFeeds((1, 2)), InFeeds((3,)), HasLabel((4,))
UNREAD = HasState("unread")


class Names:
    """One feed group, one folder and one label; all else is unknown."""

    def feeds(self, name: str) -> tuple[int, ...]:
        return (1, 2) if name == "my feed" or name == "7" else ()

    def folder(self, name: str) -> tuple[int, ...]:
        return (3,) if name == "news" else ()

    def labels(self, name: str) -> tuple[int, ...]:
        return (4,) if name == "red" else ()


def day(year: int, month: int = 1, number: int = 1) -> datetime:
    return datetime(year, month, number, tzinfo=UTC)


def read(text: str) -> SearchCondition:
    return parse_query(tokenize(text), Names(), NOW)


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("a", A),
        ("A b", And((A, B))),
        ("a AND b", And((A, B))),
        ("a OR b", Or((A, B))),
        ("a || b", Or((A, B))),
        ("a b OR c d", Or((And((A, B)), And((C, D))))),
        ("a (b OR c) d", And((A, Or((B, C)), D))),
        ("-a", Not(A)),
        ("!a b", And((Not(A), B))),
        ("-(a b)", Not(And((A, B)))),
        ("--a", Not(Not(A))),
        ("a - b", And((A, B))),
        ('"a b"', TextMatch(("a", "b"))),
        ("“a b”", TextMatch(("a", "b"))),
        ('-"a b"', Not(TextMatch(("a", "b")))),
        ("a-b", TextMatch(("a", "b"))),
        ("or and not", And((TextMatch(("or",)), TextMatch(("and",)), TextMatch(("not",))))),
        ("OR-gate", TextMatch(("or", "gate"))),
        ("ab*", TextMatch(("ab",), prefix=True)),
        ('"ab*"', TextMatch(("ab",))),
        ("芯片 好", And((TextMatch(("芯片",)), TextMatch(("好",), prefix=True)))),
        ("(((a)))", A),
        ("() a", A),
    ],
)
def test_words_and_how_they_are_joined(text: str, condition: SearchCondition) -> None:
    assert read(text) == condition


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("in:title a", TextMatch(("a",), "title")),
        ("in:title:a b", And((TextMatch(("a",), "title"), B))),
        ("IN:Title:a", TextMatch(("a",), "title")),
        ('in:author:"a b"', TextMatch(("a", "b"), "author")),
        ("in:text (a OR b)", Or((TextMatch(("a",), "text"), TextMatch(("b",), "text")))),
        ("-in:title:a", Not(TextMatch(("a",), "title"))),
        ("in:title -a", Not(TextMatch(("a",), "title"))),
        ("in:url:a/b", TextMatch(("url0a", "url0b"), prefix=True)),
        ("intitle:a", TextMatch(("a",), "title")),
        ("author:a", TextMatch(("a",), "author")),
        ("inurl:a", TextMatch(("url0a",), prefix=True)),
        ("feed:7", FEED),
        ('feed:"my feed"', FEED),
        ("f:7", FEED),
        ("feed:unknown", InFeeds(())),
        ("folder:news", FOLDER),
        ("label:red", LABEL),
        ("#red", LABEL),
        ("!#red", Not(LABEL)),
        ("a #red", And((A, LABEL))),
        ("c#", C),
        ("is:unread", UNREAD),
        ("is:Starred", HasState("starred")),
        ("-is:read", Not(HasState("read"))),
        ("has:audio", HasMedia("audio")),
        ("lang:zh-CN", InLanguage("zh-cn")),
        ("site:example.org", TextMatch((site_word("example.org"),))),
        ("site:https://www.example.org/x", TextMatch((site_word("example.org"),))),
        ("http://a.b", TextMatch(("http", "a", "b"))),
        ("a:b", TextMatch(("a", "b"))),
        ("12:30", TextMatch(("12", "30"))),
        ("a OR is:unread", Or((A, UNREAD))),
    ],
)
def test_fields(text: str, condition: SearchCondition) -> None:
    assert read(text) == condition


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("on:2026", DateRange(day(2026), day(2027))),
        ("on:2026-01", DateRange(day(2026), day(2026, 2))),
        ("on:2025-12", DateRange(day(2025, 12), day(2026))),
        ("on:2026-1-31", DateRange(day(2026, 1, 31), day(2026, 2))),
        ("on:2026/01/31", DateRange(day(2026, 1, 31), day(2026, 2))),
        ("on:today", DateRange(day(2026, 2, 18), day(2026, 2, 19))),
        ("on:yesterday", DateRange(day(2026, 2, 17), day(2026, 2, 18))),
        ("on:-7d", DateRange(day(2026, 2, 11), day(2026, 2, 12))),
        ("before:2026-01", DateRange(until=day(2026))),
        ("after:2026-01", DateRange(since=day(2026))),
        ("after:-7d", DateRange(since=NOW - timedelta(days=7))),
        ("after:-12h", DateRange(since=NOW - timedelta(hours=12))),
        ("before:-1y", DateRange(until=NOW - timedelta(days=365))),
        ("date:2026-01", DateRange(day(2026), day(2026, 2))),
        ("pubdate:2026-01/2026-02-05", DateRange(day(2026), day(2026, 2, 6))),
        ("date:2026-01/", DateRange(since=day(2026))),
        ("date:/2026-01", DateRange(until=day(2026, 2))),
        ("date:P1W/", DateRange(since=NOW - timedelta(days=7))),
    ],
)
def test_dates(text: str, condition: SearchCondition) -> None:
    assert read(text) == condition


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("", 0),
        ("   ", 0),
        ("...", 0),
        ('a "b', 2),
        ("a (b", 2),
        ("a) b", 1),
        ("OR a", 0),
        ("a OR", 2),
        ("a OR OR b", 2),
        ("(a OR ) b", 3),
        ("a in:title", 3),
        ("in:nowhere:a", 3),
        ("a is:bored", 2),
        ("has:soul", 0),
        ("on:someday", 0),
        ("on:2026-13", 0),
        ("on:0000", 0),
        ("before:/", 0),
        ("date:/", 0),
        ("feed:", 5),
        ("a is: b", 5),
        ("lang:!", 0),
        ("a*", 0),
        ("(" * (MOST_DEPTH + 1) + "a" + ")" * (MOST_DEPTH + 1), MOST_DEPTH),
        ("-" * (MOST_DEPTH + 1) + "a", MOST_DEPTH),
        ("a " * (MOST_TERMS + 1), 2 * MOST_TERMS),
        ("a" * (MOST_CHARACTERS + 1), MOST_CHARACTERS),
        ("on:9999", 0),
    ],
)
def test_an_error_is_reported_at_its_position(text: str, position: int) -> None:
    with pytest.raises(BadSearch) as said:
        read(text)

    assert said.value.position == position
    assert said.value.more == {"position": position}


def test_an_error_is_told_in_the_readers_language_with_its_position() -> None:
    with pytest.raises(BadSearch) as said:
        read("(a")

    assert str(said.value) == "This parenthesis is not closed. Add one at the end of the group. (at character 1)"
    assert translator("zh_CN").render(said.value.message) == "此括号没有闭合，请在末尾补上右括号。（第 1 个字符）"


def test_any_input_is_parsed_or_refused() -> None:
    pieces = [
        "a",
        "-",
        "!",
        "(",
        ")",
        '"',
        "OR",
        "AND",
        " ",
        "in:title",
        ":",
        "feed:",
        "#",
        "is:unread",
        "好",
        "*",
        "on:",
        "2026",
    ]
    dice = Random(1)
    typed = ["".join(dice.choices(pieces, k=dice.randint(1, 15))) for _ in range(3000)]

    refused = [(text, _refused_at(text)) for text in typed]

    assert 0 < sum(position is None for _, position in refused) < len(typed)
    assert all(position is None or 0 <= position <= len(text) for text, position in refused)


def _refused_at(text: str) -> int | None:
    try:
        read(text)
    except BadSearch as said:
        return said.position
    return None
