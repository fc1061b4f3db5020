"""Compares two texts word by word. Pure.

Sentences are compared first, then the words of those that changed, so that a long text with few changes is compared
quickly. A change that is long on both sides is reported as one replacement: comparing its words would take too long.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import Literal

DiffKind = Literal["same", "removed", "added"]
CompareCloser = Callable[[Sequence[str], Sequence[str]], Iterator["DiffPiece"]]

# The maximum number of compared pairs of sentences and words.
MOST_PAIRS = 300_000

# A run of full stops is matched at its start only; otherwise a long run would take quadratic time.
_SENTENCES = re.compile(r".+?(?:(?<![.!?…])[.!?…]++\s++|[。！？]++\s*+|\n++|$)", re.S)
# Scripts without spaces are split into characters.
_WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff]|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff]+|\s+|\W")


@dataclass(frozen=True, slots=True)
class DiffPiece:
    """A run of text that is in both texts, only in the first, or only in the second."""

    kind: DiffKind
    text: str


def diff_text(old: str, new: str) -> list[DiffPiece]:
    """The pieces in order. Without the added ones they make up the old text, without the removed ones the new text."""
    runs = groupby(_Comparison().sentences(old, new), key=lambda piece: piece.kind)
    return [DiffPiece(kind, "".join(piece.text for piece in run)) for kind, run in runs]


class _Comparison:
    """A comparison with a limit on the number of compared pairs."""

    def __init__(self) -> None:
        self._left = MOST_PAIRS

    def sentences(self, old: str, new: str) -> Iterator[DiffPiece]:
        return self._compare(_SENTENCES.findall(old), _SENTENCES.findall(new), self._words)

    def _words(self, old: Sequence[str], new: Sequence[str]) -> Iterator[DiffPiece]:
        return self._compare(_WORDS.findall("".join(old)), _WORDS.findall("".join(new)), _replaced)

    def _compare(self, old: Sequence[str], new: Sequence[str], closer: CompareCloser) -> Iterator[DiffPiece]:
        """Passes the differing parts on to `closer`."""
        pairs = len(old) * len(new)
        if pairs > self._left:
            yield from _replaced(old, new)
            return
        self._left -= pairs
        for _, from_old, to_old, from_new, to_new in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            old_part, new_part = old[from_old:to_old], new[from_new:to_new]
            if old_part == new_part:
                yield DiffPiece("same", "".join(old_part))
            else:
                yield from closer(old_part, new_part)


def _replaced(old: Sequence[str], new: Sequence[str]) -> Iterator[DiffPiece]:
    if old:
        yield DiffPiece("removed", "".join(old))
    if new:
        yield DiffPiece("added", "".join(new))
