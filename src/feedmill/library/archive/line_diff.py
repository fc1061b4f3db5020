"""Compares two raw bodies line by line. Pure.

Feeds are often one long line, so a line ends where a tag follows a tag. What both have at their beginning and end is
set aside first; when what is left is too long to compare, that is said instead.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

LineKind = Literal["same", "removed", "added", "skipped"]

# A longer comparison could take seconds.
MOST_LINES = 5000
CONTEXT_LINES = 2

_BETWEEN_TAGS = re.compile(r">\s*<")


class TooDifferent(Exception):
    """Too many lines differ to show."""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of both documents, of one of them, or a mark for a number of skipped lines."""

    kind: LineKind
    text: str = ""
    count: int = 1


def diff_lines(old: str, new: str) -> list[DiffLine]:
    """The lines that differ with some context; none when the documents are equal. Raises `TooDifferent`."""
    mine, theirs = _lines(old), _lines(new)
    start = _shared(mine, theirs)
    end = _shared(mine[start:][::-1], theirs[start:][::-1])
    before, middle_old = mine[:start], mine[start : len(mine) - end]
    middle_new, after = theirs[start : len(theirs) - end], mine[len(mine) - end :]
    if not middle_old and not middle_new:
        return []
    if max(len(middle_old), len(middle_new)) > MOST_LINES:
        raise TooDifferent
    changed = [DiffLine("same", line) for line in before]
    changed += _compare(middle_old, middle_new)
    return _shortened(changed + [DiffLine("same", line) for line in after])


def _lines(text: str) -> list[str]:
    return _BETWEEN_TAGS.sub(">\n<", text).splitlines()


def _shared(mine: Sequence[str], theirs: Sequence[str]) -> int:
    """The number of equal lines at the start."""
    pairs = zip(mine, theirs, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(mine), len(theirs)))


def _compare(mine: Sequence[str], theirs: Sequence[str]) -> list[DiffLine]:
    lines: list[DiffLine] = []
    for tag, from_old, to_old, from_new, to_new in SequenceMatcher(None, mine, theirs).get_opcodes():
        if tag == "equal":
            lines += [DiffLine("same", line) for line in mine[from_old:to_old]]
            continue
        lines += [DiffLine("removed", line) for line in mine[from_old:to_old]]
        lines += [DiffLine("added", line) for line in theirs[from_new:to_new]]
    return lines


def _shortened(lines: Sequence[DiffLine]) -> list[DiffLine]:
    """Replaces equal lines that are far from any difference by a mark with their number."""
    near = {
        place + step
        for place, line in enumerate(lines)
        if line.kind != "same"
        for step in range(-CONTEXT_LINES, CONTEXT_LINES + 1)
    }
    shown: list[DiffLine] = []
    for place, line in enumerate(lines):
        if place in near:
            shown.append(line)
        elif shown and shown[-1].kind == "skipped":
            shown[-1] = DiffLine("skipped", count=shown[-1].count + 1)
        else:
            shown.append(DiffLine("skipped"))
    return shown
