"""Sentences that know their parts: in English by themselves, and the same again from where they are kept."""

from copy import deepcopy
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedmill.model.translatable_text import TranslatableText, format_duration, text_from_stored, text_to_stored

HOUR = timedelta(hours=1)


def test_a_sentence_is_english_to_whoever_prints_it() -> None:
    every = TranslatableText("every {length}", length=2 * HOUR)

    assert TranslatableText("{every}, because {why}", every=every, why="it sleeps") == "every 2 h, because it sleeps"


@given(st.text(), st.integers(0, 10**9), st.timedeltas(timedelta(), 4000 * 24 * HOUR))
def test_a_sentence_comes_back_from_its_row_with_all_its_parts(text: str, n: int, length: timedelta) -> None:
    part = TranslatableText("after {length}", length=length)
    said = TranslatableText("{part}: {text} ({n})", part=part, text=text, n=n)

    kept = text_from_stored(text_to_stored(said))

    assert kept == said == deepcopy(said)
    assert isinstance(kept, TranslatableText)
    assert (kept.template, kept.values["n"], kept.values["part"].values) == (said.template, n, {"length": length})


@pytest.mark.parametrize("text", ["", "paused by a person", "{curly}", '{"seconds": 3}'])
def test_a_text_without_parts_is_kept_as_it_is(text: str) -> None:
    assert text_from_stored(text_to_stored(text)) == text


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
def test_lengths_of_time_are_said_in_words(seconds: int, words: str) -> None:
    assert format_duration(timedelta(seconds=seconds)) == words
