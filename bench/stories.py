"""Compares ways to find the same article in several feeds: `python bench/stories.py [--misses] [--kinds]`.

Quality is that on the labelled pairs of the tests. The threshold of each candidate is the one with the best recall at a
precision of 0.98 on the half `tune`, or with the best precision; the figures are those of the other half. CPU time is
that of computing what is stored, for the articles of the tests and for the corpus if it is there; candidates are
measured alternately and the least time of several rounds counts. MinHash needs datasketch, which nothing else uses.
"""

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

from report import Cell, Table, report_table

from feedmill.collect.parsing.parse_feed import parse_feed
from feedmill.collect.stories.article_links import article_links
from feedmill.collect.stories.entry_words import read_words
from feedmill.collect.stories.sign_entry import SignableEntry, sign_entries
from feedmill.errors import NotAFeed
from feedmill.store.search.tokenizer import words_of_html
from tests.collect.stories.labelled_pairs import LabelledPair, labelled_pairs
from tests.collect.stories.pair_quality import Quality, is_found, judge_pairs

try:
    from datasketch import MinHash
except ImportError:
    MinHash = None

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
ROUNDS = 5
OURS = "Feedmill"
Sign = Callable[[SignableEntry], Any]
# How alike two signatures are, from 0 to 1.
Compare = Callable[[Any, Any], float]


def main() -> None:
    pairs = labelled_pairs()
    rows = [quality_row(name, pairs, sign, compare) for name, (sign, compare) in CANDIDATES.items()]
    rows.append([OURS, *figures(judge_pairs([pair for pair in pairs if pair.half == "report"])), ""])
    costs = cpu_microseconds()
    for row in rows:
        row.append(costs[str(row[0])])
    columns = ["", "precision", "recall", "recall of hard ones", "threshold", "CPU µs an entry"]
    report_table(Table("The same article in several feeds", columns, rows, __doc__ or ""))
    if "--kinds" in sys.argv:
        print_kinds(pairs)
    if "--misses" in sys.argv:
        print_misses(pairs)


def figures(quality: Quality) -> list[Cell]:
    return [quality.precision, quality.recall, quality.recall_of_hard]


# --- candidates -------------------------------------------------------------------------------------------


def groups_of(entry: SignableEntry) -> set[bytes]:
    title, text = read_words(entry)
    words = [*title, *text]
    return {b" ".join(group) for group in zip(words, words[1:], words[2:], strict=False)} or set(words)


def simhash(entry: SignableEntry) -> int:
    """64 bits: for each, whether most of the hashes have it."""
    counts = [0] * 64
    for group in groups_of(entry):
        value = crc32(group) << 32 | crc32(group[::-1])
        for bit in range(64):
            counts[bit] += 1 if value >> bit & 1 else -1
    return sum(1 << bit for bit, count in enumerate(counts) if count > 0)


def minhash(entry: SignableEntry) -> Any:
    made = MinHash(num_perm=128)
    made.update_batch(list(groups_of(entry)))
    return made


def exact(one: set[bytes], other: set[bytes]) -> float:
    return len(one & other) / max(len(one | other), 1)


CANDIDATES: dict[str, tuple[Sign, Compare]] = {
    "the same link": (lambda entry: article_links(entry).all, lambda one, other: not {*one}.isdisjoint(other)),
    "the same title": (lambda entry: words_of_html(entry.title), lambda one, other: one == other != ""),
    "SimHash, 64 bits": (simhash, lambda one, other: 1 - (one ^ other).bit_count() / 64),
    "all groups of three words (Jaccard)": (groups_of, exact),
}
if MinHash is not None:
    CANDIDATES["MinHash, 128 functions (datasketch)"] = (minhash, lambda one, other: one.jaccard(other))


def quality_row(name: str, pairs: Sequence[LabelledPair], sign: Sign, compare: Compare) -> list[Cell]:
    """The quality of a candidate with its best threshold. A common link counts for all but the title."""
    signed = {id(each): sign(each.entry) for pair in pairs for each in (pair.one, pair.other)}
    links = {id(each): article_links(each.entry).all for pair in pairs for each in (pair.one, pair.other)}

    def alike(pair: LabelledPair) -> float:
        one, other = id(pair.one), id(pair.other)
        if name != "the same title" and not {*links[one]}.isdisjoint(links[other]):
            return 1.0
        return float(compare(signed[one], signed[other]))

    values = [(pair, alike(pair)) for pair in pairs]
    thresholds = [step / 64 for step in range(1, 65)]
    qualities = {limit: judge(values, "tune", limit) for limit in thresholds}
    good = [limit for limit in thresholds if qualities[limit].precision >= 0.98]
    best = max(good, key=lambda limit: qualities[limit].recall) if good else None
    best = best or max(thresholds, key=lambda limit: (qualities[limit].precision, qualities[limit].recall))
    return [name, *figures(judge(values, "report", best)), best]


def judge(values: Sequence[tuple[LabelledPair, float]], half: str, threshold: float) -> Quality:
    return Quality([(pair, alike >= threshold) for pair, alike in values if pair.half == half])


# --- time -------------------------------------------------------------------------------------------------


def cpu_microseconds() -> dict[str, float]:
    entries = corpus_entries() or [pair.other.entry for pair in labelled_pairs() if pair.same]
    works: dict[str, Callable[[], object]] = {
        name: lambda sign=sign: [sign(entry) for entry in entries]  # type: ignore[misc]
        for name, (sign, _) in CANDIDATES.items()
    }
    works[OURS] = lambda: sign_entries(entries)
    least = dict.fromkeys(works, float("inf"))
    for _ in range(ROUNDS):
        for name, work in works.items():
            started = time.process_time()
            work()
            least[name] = min(least[name], time.process_time() - started)
    return {name: seconds / len(entries) * 1e6 for name, seconds in least.items()}


def corpus_entries() -> list[SignableEntry]:
    entries: list[SignableEntry] = []
    for path in sorted(CORPUS.glob("*")):
        try:
            entries += parse_feed(path.read_bytes()).entries
        except NotAFeed:
            continue
    return entries


# --- details ----------------------------------------------------------------------------------------------


def print_kinds(pairs: Sequence[LabelledPair]) -> None:
    found: dict[tuple[bool, str], Counter[str]] = defaultdict(Counter)
    for pair in pairs:
        if pair.half == "report":
            found[not pair.same, pair.kind].update(pairs=1, right=int(is_found(pair) == pair.same))
    rows: list[list[Cell]] = [
        [kind, "no" if other else "yes", count["pairs"], count["right"]]
        for (other, kind), count in sorted(found.items())
    ]
    report_table(Table("Pairs by kind, half `report`", ["", "same story", "pairs", "right"], rows))


def print_misses(pairs: Sequence[LabelledPair]) -> None:
    for pair in pairs:
        if pair.half == "report" and is_found(pair) != pair.same:
            print("missed" if pair.same else "wrong ", pair.kind, pair.source, sep=" | ")


if __name__ == "__main__":
    main()
