"""Cuts a sequence into lots that every database takes in one batch."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

# As many rows as every database takes in one batch without complaint.
LOT = 500
Thing = TypeVar("Thing")


def lots(things: Sequence[Thing], size: int = LOT) -> Iterator[Sequence[Thing]]:
    for start in range(0, len(things), size):
        yield things[start : start + size]
