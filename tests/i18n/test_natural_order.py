"""The natural order of names."""

import pytest

from feedmill.i18n.natural_order import natural_key


@pytest.mark.parametrize(
    "ordered",
    [
        ["Part 2", "Part 10", "Part 10a"],
        ["alpha 1", "Alpha 02", "alpha 3"],
        ["2 Guys", "10 Things", "Apple"],
        ["第2期", "第10期"],
        ["1" * 150, "2" * 150, "1" * 190],
    ],
)
def test_numbers_in_names_are_compared_as_numbers(ordered: list[str]) -> None:
    mixed = ordered[::-1]

    assert sorted(mixed, key=natural_key) == ordered
