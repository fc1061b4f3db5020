"""The word diff of two texts."""

import time

from hypothesis import given
from hypothesis import strategies as st

from feedmill.library.entries.text_diff import DiffPiece, diff_text

texts = st.text(alphabet="ab .。\n中文!", max_size=60)


@given(texts, texts)
def test_both_texts_can_be_rebuilt_from_the_diff(old: str, new: str) -> None:
    pieces = diff_text(old, new)

    assert "".join(piece.text for piece in pieces if piece.kind != "added") == old
    assert "".join(piece.text for piece in pieces if piece.kind != "removed") == new


def test_only_a_changed_word_differs() -> None:
    assert diff_text("The old house. It is red.", "The new house. It is red.") == [
        DiffPiece("same", "The "),
        DiffPiece("removed", "old"),
        DiffPiece("added", "new"),
        DiffPiece("same", " house. It is red."),
    ]


def test_languages_without_spaces_are_compared_by_character() -> None:
    assert diff_text("今天天气好。", "今天天气不好。") == [
        DiffPiece("same", "今天天气"),
        DiffPiece("added", "不"),
        DiffPiece("same", "好。"),
    ]


def test_texts_with_nothing_in_common_are_replaced_completely() -> None:
    assert diff_text("one", "") == [DiffPiece("removed", "one")]
    assert diff_text("", "") == []


def test_a_hostile_pair_of_texts_is_compared_fast() -> None:
    started = time.process_time()

    diff_text("a " * 200_000, "b a " * 100_000)
    diff_text(_alternating("a " * 400), _alternating("b a " * 200))

    assert time.process_time() - started < 10


def _alternating(sentence: str) -> str:
    return "".join(f"{number}. {sentence}. " for number in range(200))
