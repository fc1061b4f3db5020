import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import examples, use_profile


@pytest.fixture
def profile_restored() -> Iterator[None]:
    before = settings.get_current_profile_name()
    yield
    settings.load_profile(before)


def test_a_property_is_tried_with_all_examples(profile_restored: None) -> None:
    use_profile(is_check=False)

    assert examples(200) == 200
    assert _count_tries() == 100


def test_make_check_tries_a_property_with_a_quarter_of_them(profile_restored: None) -> None:
    use_profile(is_check=True)

    assert examples(200) == 50
    assert _count_tries() == 25


@pytest.mark.parametrize("is_check", [False, True])
def test_no_property_fails_because_the_machine_is_busy(is_check: bool, profile_restored: None) -> None:
    use_profile(is_check)

    assert settings().deadline is None
    _count_tries(cpu_seconds=0.25, examples=1)


def _count_tries(cpu_seconds: float = 0, examples: int | None = None) -> int:
    tried: list[int] = []

    @given(st.integers())
    def always_holds(number: int) -> None:
        tried.append(number)
        until = time.process_time() + cpu_seconds
        while time.process_time() < until:
            pass

    limited = settings(max_examples=examples)(always_holds) if examples else always_holds
    limited()
    return len(tried)
