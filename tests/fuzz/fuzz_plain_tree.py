"""Damaged documents by the compiled reader and by expat: `python tests/fuzz/fuzz_plain_tree.py [seconds] [seed]`.

Whenever the compiled reader gives a tree, expat must give the same one; the first document where it doesn't ends the
run. The documents are small ones made of what XML is made of, and the tests' feeds, each damaged a few times.
"""

import random
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from tests.collect.test_plain_tree import ODD, PIECES, PLAIN, assert_never_another_tree  # noqa: E402

LONGEST = 3_000
NUMBERS = ("&#{};", "&#x{:x};", "&#x{:X};", "&#0{};", "&#x0x{:x};", "&#{}", "&# {};")
CODES = (
    0,
    9,
    10,
    13,
    31,
    32,
    60,
    38,
    65,
    127,
    128,
    0xD7FF,
    0xD800,
    0xE000,
    0xFFFD,
    0xFFFE,
    0x10000,
    0x10FFFF,
    0x110000,
)


def seeds() -> list[bytes]:
    feeds = [path.read_bytes() for path in (ROOT / "tests" / "data").rglob("*") if path.is_file()]
    return [document for document in (*PLAIN.values(), *ODD.values(), *feeds) if 0 < len(document) <= LONGEST]


def piece(dice: random.Random) -> bytes:
    if dice.random() < 0.2:
        return dice.choice(NUMBERS).format(dice.choice(CODES)).encode()
    return dice.choice(PIECES)


def made(dice: random.Random) -> bytes:
    inside = b"".join(piece(dice) for _ in range(dice.randrange(12)))
    return b"<a xmlns:p='u'>" + inside + b"</a>"


def damaged(document: bytes, dice: random.Random) -> bytes:
    start = dice.randrange(len(document))
    end = start + dice.choice((0, 0, 1, 2, 10))
    return document[:start] + dice.choice((b"", piece(dice), document[start:end] * 2)) + document[end:]


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns()
    dice, known, tried = random.Random(seed), seeds(), 0
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        document = made(dice) if dice.random() < 0.5 else dice.choice(known)
        for _ in range(dice.randrange(4)):
            document = damaged(document, dice) or b"<a/>"
        try:
            assert_never_another_tree(document)
        except AssertionError:
            print(f"seed {seed}, after {tried} documents: {document!r}")
            raise
        tried += 1
    print(f"seed {seed}: {tried} documents, none of which became another tree")


if __name__ == "__main__":
    main()
