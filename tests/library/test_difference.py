"""The difference of two texts."""

import time

from hypothesis import given
from hypothesis import strategies as st

from feedmill.library.difference import Piece, difference

texts = st.text(alphabet="ab .。\n中文!", max_size=60)


@given(texts, texts)
def test_the_pieces_make_both_texts_again(old: str, new: str) -> None:
    pieces = difference(old, new)

    assert "".join(piece.text for piece in pieces if piece.kind != "added") == old
    assert "".join(piece.text for piece in pieces if piece.kind != "removed") == new


def test_a_changed_word_is_all_that_differs() -> None:
    assert difference("The old house. It is red.", "The new house. It is red.") == [
        Piece("same", "The "), Piece("removed", "old"), Piece("added", "new"), Piece("same", " house. It is red."),
    ]  # fmt: skip


def test_where_words_are_not_spaced_characters_are_compared() -> None:
    assert difference("今天天气好。", "今天天气不好。") == [
        Piece("same", "今天天气"), Piece("added", "不"), Piece("same", "好。"),
    ]  # fmt: skip


def test_texts_that_have_nothing_in_common_are_replaced_whole() -> None:
    assert difference("one", "") == [Piece("removed", "one")]
    assert difference("", "") == []


def test_a_hostile_pair_of_texts_takes_no_longer_than_a_moment() -> None:
    started = time.process_time()

    difference("a " * 200_000, "b a " * 100_000)
    difference(_alternating("a " * 400), _alternating("b a " * 200))

    assert time.process_time() - started < 10


def _alternating(sentence: str) -> str:
    return "".join(f"{number}. {sentence}. " for number in range(200))
