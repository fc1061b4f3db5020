"""Compares two texts word by word. Pure.

Sentences first, then the words of those that changed: a long text with a few changes is compared quickly. Where both
sides of a change are long, the whole of it is said to be replaced: nobody would follow the words, and comparing them
would take too long.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import Literal

DiffKind = Literal["same", "removed", "added"]
CompareCloser = Callable[[Sequence[str], Sequence[str]], Iterator["DiffPiece"]]

# How many pairs of sentences and of words are compared at most.
MOST_PAIRS = 300_000

# A run of full stops is tried at its beginning only, else a long one would be read again from each of them.
_SENTENCES = re.compile(r".+?(?:(?<![.!?…])[.!?…]++\s++|[。！？]++\s*+|\n++|$)", re.S)
# Scripts without spaces character by character.
_WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff]|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff]+|\s+|\W")


@dataclass(frozen=True, slots=True)
class DiffPiece:
    """A run of text that both have, that only the first has, or that only the second has."""

    kind: DiffKind
    text: str


def diff_text(old: str, new: str) -> list[DiffPiece]:
    """The pieces in order: without the added ones they are the first text, without the removed ones the second."""
    runs = groupby(_Comparison().sentences(old, new), key=lambda piece: piece.kind)
    return [DiffPiece(kind, "".join(piece.text for piece in run)) for kind, run in runs]


class _Comparison:
    """Compares until it has used up its pairs."""

    def __init__(self) -> None:
        self._left = MOST_PAIRS

    def sentences(self, old: str, new: str) -> Iterator[DiffPiece]:
        return self._compare(_SENTENCES.findall(old), _SENTENCES.findall(new), self._words)

    def _words(self, old: Sequence[str], new: Sequence[str]) -> Iterator[DiffPiece]:
        return self._compare(_WORDS.findall("".join(old)), _WORDS.findall("".join(new)), _replaced)

    def _compare(self, old: Sequence[str], new: Sequence[str], closer: CompareCloser) -> Iterator[DiffPiece]:
        """What differs is looked at more closely."""
        pairs = len(old) * len(new)
        if pairs > self._left:
            yield from _replaced(old, new)
            return
        self._left -= pairs
        for _, from_old, to_old, from_new, to_new in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            mine, theirs = old[from_old:to_old], new[from_new:to_new]
            if mine == theirs:
                yield DiffPiece("same", "".join(mine))
            else:
                yield from closer(mine, theirs)


def _replaced(old: Sequence[str], new: Sequence[str]) -> Iterator[DiffPiece]:
    if old:
        yield DiffPiece("removed", "".join(old))
    if new:
        yield DiffPiece("added", "".join(new))
