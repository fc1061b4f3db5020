"""A few fixed statement sizes serve pages of every length."""

import pytest

from feedmill.store.literal_limits import SIZES, round_limit_up


@pytest.mark.parametrize("most", [1, 2, 3, 50, 51, 52, 201])
def test_a_size_fits_the_page_and_is_one_of_few(most: int) -> None:
    assert round_limit_up(most) >= most
    assert round_limit_up(most) in SIZES


def test_a_page_beyond_the_largest_size_keeps_its_own() -> None:
    assert round_limit_up(1000) == 1000
