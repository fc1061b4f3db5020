"""Sizes are short enough to be read at a glance."""

import pytest

from feedmill.i18n.byte_sizes import format_bytes


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (1250, "1.2 kB"),
        (99_949, "99.9 kB"),
        (123_456, "123 kB"),
        (15_000_000, "15 MB"),
        (2_600_000_000, "2.6 GB"),
        (7e15, "7000 TB"),
    ],
)
def test_a_size_has_three_digits_at_most_until_there_is_no_larger_unit(size: float, words: str) -> None:
    assert format_bytes(size).replace("\N{NO-BREAK SPACE}", " ") == words
