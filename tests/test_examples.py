from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import examples, use_fewer_examples


@pytest.fixture
def profile_restored() -> Iterator[None]:
    before = settings.get_current_profile_name()
    settings.load_profile("default")
    yield
    settings.load_profile(before)


def test_a_property_is_tried_with_all_examples(profile_restored: None) -> None:
    assert examples(200) == 200
    assert _count_tries() == 100


def test_make_check_tries_a_property_with_a_quarter_of_them(profile_restored: None) -> None:
    use_fewer_examples()

    assert examples(200) == 50
    assert _count_tries() == 25


def _count_tries() -> int:
    tried: list[int] = []

    @given(st.integers())
    def always_holds(number: int) -> None:
        tried.append(number)

    always_holds()
    return len(tried)
