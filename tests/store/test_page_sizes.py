"""Few statements for pages of all sizes."""

import pytest

from feedmill.store.page_sizes import SIZES, page_size_for


@pytest.mark.parametrize("most", [1, 2, 3, 50, 51, 52, 201])
def test_a_size_has_room_for_the_page_and_is_one_of_few(most: int) -> None:
    assert page_size_for(most) >= most
    assert page_size_for(most) in SIZES


def test_more_than_any_page_has_is_what_was_asked_for() -> None:
    assert page_size_for(1000) == 1000
