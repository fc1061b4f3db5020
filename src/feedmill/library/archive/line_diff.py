"""Compares two raw bodies line by line. Pure.

Feeds are often one long line, so a line ends where a tag follows a tag. Equal lines at the start and end are skipped
first; if the rest is too long to compare, `TooDifferent` is raised.
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
    old_lines, new_lines = _lines(old), _lines(new)
    start = _count_equal(old_lines, new_lines)
    end = _count_equal(old_lines[start:][::-1], new_lines[start:][::-1])
    before, middle_old = old_lines[:start], old_lines[start : len(old_lines) - end]
    middle_new, after = new_lines[start : len(new_lines) - end], old_lines[len(old_lines) - end :]
    if not middle_old and not middle_new:
        return []
    if max(len(middle_old), len(middle_new)) > MOST_LINES:
        raise TooDifferent
    changed = [DiffLine("same", line) for line in before]
    changed += _compare(middle_old, middle_new)
    return _shortened(changed + [DiffLine("same", line) for line in after])


def _lines(text: str) -> list[str]:
    return _BETWEEN_TAGS.sub(">\n<", text).splitlines()


def _count_equal(old_lines: Sequence[str], new_lines: Sequence[str]) -> int:
    """The number of equal lines at the start."""
    pairs = zip(old_lines, new_lines, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(old_lines), len(new_lines)))


def _compare(old_lines: Sequence[str], new_lines: Sequence[str]) -> list[DiffLine]:
    lines: list[DiffLine] = []
    for tag, from_old, to_old, from_new, to_new in SequenceMatcher(None, old_lines, new_lines).get_opcodes():
        if tag == "equal":
            lines += [DiffLine("same", line) for line in old_lines[from_old:to_old]]
            continue
        lines += [DiffLine("removed", line) for line in old_lines[from_old:to_old]]
        lines += [DiffLine("added", line) for line in new_lines[from_new:to_new]]
    return lines


def _shortened(lines: Sequence[DiffLine]) -> list[DiffLine]:
    """Replaces equal lines that are far from any difference by a mark with their number."""
    near = {
        index + step
        for index, line in enumerate(lines)
        if line.kind != "same"
        for step in range(-CONTEXT_LINES, CONTEXT_LINES + 1)
    }
    shortened: list[DiffLine] = []
    for index, line in enumerate(lines):
        if index in near:
            shortened.append(line)
        elif shortened and shortened[-1].kind == "skipped":
            shortened[-1] = DiffLine("skipped", count=shortened[-1].count + 1)
        else:
            shortened.append(DiffLine("skipped"))
    return shortened
