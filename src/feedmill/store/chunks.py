"""Cuts a sequence into chunks that every database takes in one batch."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

# As many rows as every database takes in one batch without complaint.
CHUNK_SIZE = 500
Thing = TypeVar("Thing")


def chunked(things: Sequence[Thing], size: int = CHUNK_SIZE) -> Iterator[Sequence[Thing]]:
    for start in range(0, len(things), size):
        yield things[start : start + size]
