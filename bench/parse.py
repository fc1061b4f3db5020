"""Benchmarks the feed parser against others: `python bench/parse.py [folder of feeds]`.

Candidates parse the same feeds alternately in one process, and the least CPU time of several rounds counts, so that
other load affects all of them alike. Prints ratios, which depend less on the machine than seconds.
"""

import subprocess
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path

import fastfeedparser
import feedparser
from lxml import etree
from report import Cell, Table, report_table

from feedmill.collect.parsing.parse_feed import parse_feed
from feedmill.errors import NotAFeed

OURS, LXML = "Feedmill", "lxml, no fields"
CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
# Without the corpus: the feeds of the tests, which are small and unusual.
OWN = Path(__file__).parents[1] / "tests" / "data"
FEEDS = {".xml", ".rss", ".atom"}
ROUNDS, SLOW_ROUNDS = 7, 1
GROWTH = """
import resource, sys
from feedmill.collect.parsing.parse_feed import parse_feed
data = sys.stdin.buffer.read()
parse_feed(b"<rss><channel><item><title>x</title></item></channel></rss>")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
parse_feed(data)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def ours(data: bytes) -> None:
    try:
        parse_feed(data)
    except NotAFeed:
        pass


def bare_lxml(data: bytes) -> None:
    try:
        etree.fromstring(data)
    except etree.XMLSyntaxError:
        pass


def fast(data: bytes) -> None:
    try:
        fastfeedparser.parse(data)
    except Exception:
        pass


def slow(data: bytes) -> None:
    feedparser.parse(data)


def least_seconds(candidates: dict[str, Callable[[bytes], None]], feeds: list[bytes], rounds: int) -> dict[str, float]:
    least = dict.fromkeys(candidates, float("inf"))
    for _ in range(rounds):
        for name, read in candidates.items():
            started = time.process_time()
            for data in feeds:
                read(data)
            least[name] = min(least[name], time.process_time() - started)
    return least


def memory_ratio(feeds: list[bytes]) -> float:
    """The most memory that Python took for a feed over 20 kB, as a multiple of its size."""
    worst = 0.0
    for data in feeds:
        if len(data) > 20_000:
            tracemalloc.start()
            ours(data)
            worst = max(worst, tracemalloc.get_traced_memory()[1] / len(data))
            tracemalloc.stop()
    return worst


def resident_ratio(feeds: list[bytes]) -> float:
    """The most by which a new process grew for one of the longest feeds, which includes the memory of C libraries.

    Their items are repeated, for a process can take a short feed into memory that it has anyway.
    """
    longest = sorted((data for data in feeds if b"<item>" in data), key=len)[-3:]
    return max(_growth(data) for data in map(_repeated, longest))


def _repeated(data: bytes) -> bytes:
    start, end = data.index(b"<item>"), data.rindex(b"</item>") + len(b"</item>")
    return data[:start] + data[start:end] * (20_000_000 // (end - start)) + data[end:]


def _growth(data: bytes) -> float:
    done = subprocess.run([sys.executable, "-c", GROWTH], input=data, capture_output=True, check=True)
    return int(done.stdout) * 1024 / len(data)


def main() -> None:
    warnings.simplefilter("ignore")
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else CORPUS if CORPUS.exists() else OWN
    feeds = [path.read_bytes() for path in sorted(folder.rglob("*.*")) if path.suffix in FEEDS]
    in_turns = {OURS: ours, LXML: bare_lxml, "fastfeedparser": fast}
    seconds = least_seconds(in_turns, feeds, ROUNDS)
    seconds |= least_seconds({"feedparser": slow}, feeds, SLOW_ROUNDS)
    rows: list[list[Cell]] = [
        [name, taken * 1000, seconds["feedparser"] / taken, seconds[LXML] / taken]
        for name, taken in sorted(seconds.items(), key=lambda item: item[1])
    ]
    report_table(
        Table(
            f"{len(feeds)} real feeds, {sum(map(len, feeds)) / 1e6:.1f} MB",
            ["", "CPU ms", "times feedparser", "of bare lxml"],
            rows,
            "The minimum CPU time of several alternating rounds. Goal: 30 times feedparser. lxml builds a tree without "
            "reading any field of it.",
            bars="times feedparser",
            notes=[
                f"Peak memory: {memory_ratio(feeds):.1f} times the feed in Python, {resident_ratio(feeds):.1f} times "
                "for the system (goal: 8)."
            ],
        )
    )


if __name__ == "__main__":
    main()
