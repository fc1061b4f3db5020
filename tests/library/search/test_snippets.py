"""Snippets of search results."""

import re

from feedmill.library.search.snippets import AFTER, BEFORE, snippet

WORDS = re.compile("larch|水闸")


def test_a_snippet_begins_and_ends_between_words() -> None:
    text = f"{'before ' * 40}larch{' after' * 80}"

    shown = snippet(text, WORDS)

    assert shown is not None
    assert re.fullmatch(r"… (before )+larch( after)+ …", shown)
    assert len(shown) <= BEFORE + AFTER + len("larch") + 4


def test_a_short_text_is_shown_completely() -> None:
    assert snippet("one larch", WORDS) == "one larch"


def test_in_languages_without_spaces_the_snippet_is_cut_anywhere() -> None:
    shown = snippet("磨" * 300 + "水闸" + "磨" * 300, WORDS)

    assert shown == "… " + "磨" * BEFORE + "水闸" + "磨" * AFTER + " …"


def test_a_text_without_the_words_has_no_snippet() -> None:
    assert snippet("oak", WORDS) is None
