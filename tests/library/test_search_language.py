"""The search language: what each spelling asks for, and where a mistake is said to be."""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from feedmill.library.search_language import MOST_DEPTH, parse
from feedmill.library.search_tokens import MOST_CHARACTERS, MOST_TERMS, BadSearch, cut
from feedmill.model.search import (
    Condition,
    Dated,
    Either,
    Every,
    Has,
    Labelled,
    Language,
    OfFeeds,
    State,
    Text,
    Without,
)
from feedmill.store.search_words import site_word

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
A, B, C, D = (Text((letter,)) for letter in "abcd")
FEED, FOLDER, LABEL = OfFeeds((1, 2)), OfFeeds((3,)), Labelled((4,))
UNREAD = State("unread")


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


def read(text: str) -> Condition:
    return parse(cut(text), Names(), NOW)


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("a", A),
        ("A b", Every((A, B))),
        ("a AND b", Every((A, B))),
        ("a OR b", Either((A, B))),
        ("a || b", Either((A, B))),
        ("a b OR c d", Either((Every((A, B)), Every((C, D))))),
        ("a (b OR c) d", Every((A, Either((B, C)), D))),
        ("-a", Without(A)),
        ("!a b", Every((Without(A), B))),
        ("-(a b)", Without(Every((A, B)))),
        ("--a", Without(Without(A))),
        ("a - b", Every((A, B))),
        ('"a b"', Text(("a", "b"))),
        ("“a b”", Text(("a", "b"))),
        ('-"a b"', Without(Text(("a", "b")))),
        ("a-b", Text(("a", "b"))),
        ("or and not", Every((Text(("or",)), Text(("and",)), Text(("not",))))),
        ("OR-gate", Text(("or", "gate"))),
        ("ab*", Text(("ab",), prefix=True)),
        ('"ab*"', Text(("ab",))),
        ("芯片 好", Every((Text(("芯片",)), Text(("好",), prefix=True)))),
        ("(((a)))", A),
        ("() a", A),
    ],
)
def test_words_and_how_they_are_joined(text: str, condition: Condition) -> None:
    assert read(text) == condition


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("in:title a", Text(("a",), "title")),
        ("in:title:a b", Every((Text(("a",), "title"), B))),
        ("IN:Title:a", Text(("a",), "title")),
        ('in:author:"a b"', Text(("a", "b"), "author")),
        ("in:text (a OR b)", Either((Text(("a",), "text"), Text(("b",), "text")))),
        ("-in:title:a", Without(Text(("a",), "title"))),
        ("in:title -a", Without(Text(("a",), "title"))),
        ("in:url:a/b", Text(("url0a", "url0b"), prefix=True)),
        ("intitle:a", Text(("a",), "title")),
        ("author:a", Text(("a",), "author")),
        ("inurl:a", Text(("url0a",), prefix=True)),
        ("feed:7", FEED),
        ('feed:"my feed"', FEED),
        ("f:7", FEED),
        ("feed:unknown", OfFeeds(())),
        ("folder:news", FOLDER),
        ("label:red", LABEL),
        ("#red", LABEL),
        ("!#red", Without(LABEL)),
        ("a #red", Every((A, LABEL))),
        ("c#", C),
        ("is:unread", UNREAD),
        ("is:Starred", State("starred")),
        ("-is:read", Without(State("read"))),
        ("has:audio", Has("audio")),
        ("lang:zh-CN", Language("zh-cn")),
        ("site:example.org", Text((site_word("example.org"),))),
        ("site:https://www.example.org/x", Text((site_word("example.org"),))),
        ("http://a.b", Text(("http", "a", "b"))),
        ("a:b", Text(("a", "b"))),
        ("12:30", Text(("12", "30"))),
        ("a OR is:unread", Either((A, UNREAD))),
    ],
)
def test_fields(text: str, condition: Condition) -> None:
    assert read(text) == condition


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("on:2026", Dated(day(2026), day(2027))),
        ("on:2026-01", Dated(day(2026), day(2026, 2))),
        ("on:2025-12", Dated(day(2025, 12), day(2026))),
        ("on:2026-1-31", Dated(day(2026, 1, 31), day(2026, 2))),
        ("on:2026/01/31", Dated(day(2026, 1, 31), day(2026, 2))),
        ("on:today", Dated(day(2026, 2, 18), day(2026, 2, 19))),
        ("on:yesterday", Dated(day(2026, 2, 17), day(2026, 2, 18))),
        ("on:-7d", Dated(day(2026, 2, 11), day(2026, 2, 12))),
        ("before:2026-01", Dated(until=day(2026))),
        ("after:2026-01", Dated(since=day(2026))),
        ("after:-7d", Dated(since=NOW - timedelta(days=7))),
        ("after:-12h", Dated(since=NOW - timedelta(hours=12))),
        ("before:-1y", Dated(until=NOW - timedelta(days=365))),
        ("date:2026-01", Dated(day(2026), day(2026, 2))),
        ("pubdate:2026-01/2026-02-05", Dated(day(2026), day(2026, 2, 6))),
        ("date:2026-01/", Dated(since=day(2026))),
        ("date:/2026-01", Dated(until=day(2026, 2))),
        ("date:P1W/", Dated(since=NOW - timedelta(days=7))),
    ],
)
def test_dates(text: str, condition: Condition) -> None:
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
def test_a_mistake_is_said_to_be_where_it_is(text: str, position: int) -> None:
    with pytest.raises(BadSearch) as said:
        read(text)

    assert said.value.position == position
    assert said.value.more == {"position": position}


def test_whatever_is_typed_is_read_or_refused() -> None:
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
