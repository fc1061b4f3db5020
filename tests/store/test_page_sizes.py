"""A few fixed statement sizes serve pages of every length."""

import pytest

from feedmill.store.page_sizes import SIZES, page_size_for


@pytest.mark.parametrize("most", [1, 2, 3, 50, 51, 52, 201])
def test_a_size_fits_the_page_and_is_one_of_few(most: int) -> None:
    assert page_size_for(most) >= most
    assert page_size_for(most) in SIZES


def test_a_page_beyond_the_largest_size_keeps_its_own() -> None:
    assert page_size_for(1000) == 1000
