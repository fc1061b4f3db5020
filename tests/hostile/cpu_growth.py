"""Measures how the CPU time of a function grows with its input.

Most functions are linear and fast. So each text is read once. Only a text that takes long for its length is read
again, at a quarter of the length and then at growing sizes: several times, with the minimum counted, because other
programs use the machine too.
"""

import gc
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product

from tests.hostile.repeated_texts import repeated
from tests.hostile.text_readers import REFUSALS, Read

# Seconds per character that are always fast enough.
SLOW = 2e-7
# How much longer four times the text takes: linear is 4, quadratic is 16.
SUSPICIOUS = 6.0
# A suspect is measured from this length on: shorter texts end before there is something to measure.
LEAST_MEASURED = 1_000
# Below this the clock and other load matter as much as the function.
MEASURABLE = 0.001
# Once a text took this long, and shorter ones were measurable, the growth is known.
LONG = 0.03
DOUBLINGS = 4
# Two doublings.
ENOUGH_TIMES = 3
# Linear is 2, quadratic is 4.
MOST_GROWTH = 3.0
RUNS = 3


@dataclass(frozen=True, slots=True)
class Growth:
    """The CPU times of one function for a text that is doubled again and again."""

    reader: str
    piece: str
    ending: str
    seconds: tuple[float, ...]

    @property
    def is_excessive(self) -> bool:
        """Whether two doublings or more took, on average, more than three times as long each."""
        measurable = [seconds for seconds in self.seconds if seconds >= MEASURABLE]
        doublings = len(measurable) - 1
        return len(measurable) >= ENOUGH_TIMES and measurable[-1] / measurable[0] > MOST_GROWTH**doublings

    def __str__(self) -> str:
        times = ", ".join(f"{seconds * 1000:.1f}" for seconds in self.seconds)
        return f"{self.reader} with {self.piece!r} over and over, then {self.ending!r}: {times} ms, doubled each time"


def find_excessive(name: str, read: Read, pieces: Iterable[str], endings: Iterable[str], length: int) -> list[Growth]:
    """Returns those of all these texts whose time grows too fast."""
    with _no_collections():
        suspects = list(find_suspects(read, pieces, endings, length))
        found = [_confirmed(name, read, piece, ending, length) for piece, ending in suspects]
    return [growth for growth in found if growth is not None]


def find_suspects(read: Read, pieces: Iterable[str], endings: Iterable[str], length: int) -> Iterator[tuple[str, str]]:
    """The texts that may grow too fast, judged by two lengths."""
    return (text for text in product(pieces, endings) if _is_suspect(read, *text, length))


def cpu_seconds(read: Read, text: str) -> float:
    """The CPU time of reading the text once; the reader may refuse it."""
    started = time.thread_time()
    try:
        read(text)
    except REFUSALS:
        pass
    return time.thread_time() - started


def _is_suspect(read: Read, piece: str, ending: str, length: int) -> bool:
    whole = repeated(piece, length, ending)
    if (seconds := cpu_seconds(read, whole)) < SLOW * length:
        return False
    least = max(SLOW * length, SUSPICIOUS * _shortest(read, repeated(piece, length // 4, ending)))
    return seconds >= least and _shortest(read, whole) >= least


def _shortest(read: Read, text: str) -> float:
    return min(cpu_seconds(read, text) for _ in range(RUNS))


def _confirmed(name: str, read: Read, piece: str, ending: str, length: int) -> Growth | None:
    """The growth, if it is excessive in two measurements."""
    for _ in range(2):
        growth = measure_growth(name, read, piece, ending, max(length // 4, LEAST_MEASURED))
        if not growth.is_excessive:
            return None
    return growth


def measure_growth(name: str, read: Read, piece: str, ending: str, length: int) -> Growth:
    """Measures from this length on, doubling it until the growth is known."""
    return Growth(name, piece, ending, tuple(_times(read, piece, ending, length)))


def _times(read: Read, piece: str, ending: str, length: int) -> Iterator[float]:
    measurable = 0
    for doubling in range(DOUBLINGS):
        text = repeated(piece, length * 2**doubling, ending)
        shortest = _shortest(read, text)
        yield shortest
        measurable += shortest >= MEASURABLE
        if shortest > LONG and measurable >= ENOUGH_TIMES:
            return


@contextmanager
def _no_collections() -> Iterator[None]:
    """Disables garbage collection, whose time would be counted for the function."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
