"""The order of a run with several workers."""

import pytest

from tests.run_order import long_tests_first


@pytest.mark.parametrize("workers", [1, 2, 3, 5])
def test_every_test_is_run_once_and_every_worker_begins_with_long_tests(workers: int) -> None:
    long, others = [f"long {number}" for number in range(31)], [f"short {number}" for number in range(400)]

    ordered = long_tests_first(long, others, workers)

    starts = [len(ordered) * number // workers + 2 for number in range(workers)]
    assert sorted(ordered) == sorted([*long, *others])
    assert all(ordered[start].startswith("long") for start in starts)
    assert ordered[-1] == "short 399"
