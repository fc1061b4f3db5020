"""Hints for a search: chips, highlighted words and looser queries."""

import pytest

from feedmill.library.search.query_hints import looser_searches, terms_of, words_to_highlight


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("larch", ["larch"]),
        ('larch  -oak in:title "big wheel"  is:unread', ["larch", "-oak", 'in:title "big wheel"', "is:unread"]),
        ("-in:title:oak #wood 水闸", ["-in:title:oak", "#wood", "水闸"]),
        ("larch OR oak", []),
        ("(larch oak) is:unread", []),
    ],
)
def test_required_terms_are_listed_separately(text: str, terms: list[str]) -> None:
    assert terms_of(text) == terms


@pytest.mark.parametrize(
    ("text", "said", "marked"),
    [
        ("larch", "Larch, larches and LARCH", ["Larch", "LARCH"]),
        ("larch*", "Larch and larches", ["Larch", "larches"]),
        ("水闸", "清晨的水闸：一座", ["水闸"]),
        ('"big wheel"', "a wheel so big", ["wheel", "big"]),
        ("larch -oak", "larch or oak", ["larch"]),
        ("larch -(oak elm) ash", "larch oak elm ash", ["larch", "ash"]),
        ("in:title larch author:ada", "larch by ada", ["larch"]),
        ("a.b(c", "a b", ["a", "b"]),
    ],
)
def test_search_words_are_highlighted(text: str, said: str, marked: list[str]) -> None:
    pattern = words_to_highlight(text)

    assert pattern is not None
    assert pattern.findall(said) == marked


def test_a_search_without_words_highlights_nothing() -> None:
    assert words_to_highlight("is:unread -larch feed:3") is None


@pytest.mark.parametrize(
    ("text", "searches"),
    [
        ("larch is:unread", ["larch", "larc*"]),
        ("larch oak", ["larc* oak", "larch OR oak", "larch", "oak"]),
        ('"big wheel" -x', ['"big wheel"', "big wheel", "big whee*", "big OR wheel", "big", "wheel"]),
        ("zzz", []),
        ("is:starred", []),
    ],
)
def test_looser_searches_have_fewer_conditions(text: str, searches: list[str]) -> None:
    assert looser_searches(text) == searches
