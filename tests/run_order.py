"""The order in which the workers of pytest-xdist run the tests."""

from collections.abc import Sequence
from typing import TypeVar

Test = TypeVar("Test")


def long_tests_first(long: Sequence[Test], others: Sequence[Test], workers: int) -> list[Test]:
    """Makes each worker begin with its share of the long tests.

    `--dist worksteal` gives each worker an equal part of the list, from its start to its end, and takes from the end
    of a part for whoever has nothing left. So what runs last is short, and no worker ends alone with a long test.
    """
    parts = [_part(tests, number, workers) for number in range(workers) for tests in (long, others)]
    return [test for part in parts for test in part]


def _part(tests: Sequence[Test], number: int, parts: int) -> Sequence[Test]:
    return tests[len(tests) * number // parts : len(tests) * (number + 1) // parts]
