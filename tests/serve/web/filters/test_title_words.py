"""The words of a title that are offered to be muted or followed."""

import pytest

from feedmill.serve.web.filters.title_words import MOST_WORDS, title_words


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("Rust 1.80.0 released: what's new in the EU", ["Rust", "released", "EU"]),
        ("C++, C# and Node.js for O'Reilly's readers", ["C++", "C#", "Node.js", "O'Reilly", "readers"]),
        ("苹果发布新款 iPhone 17：最薄机身", ["苹果发布新款", "iPhone", "最薄机身"]),
        ("Mill, mill and MILL", ["Mill"]),
        ("2026: 1,000 a to", []),
        ("", []),
    ],
)
def test_words_that_say_something_are_offered_once(title: str, words: list[str]) -> None:
    assert title_words(title) == words


def test_a_long_title_offers_only_some() -> None:
    assert len(title_words(" ".join(f"word{n}x" for n in range(100)))) == MOST_WORDS
