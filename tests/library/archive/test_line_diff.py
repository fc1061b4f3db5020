"""The line diff of two documents, with a little context."""

import time

import pytest

from feedmill.library.archive.line_diff import MOST_LINES, DiffLine, TooDifferent, diff_lines


def test_equal_documents_have_no_differences() -> None:
    assert diff_lines("<a>\n<b/></a>", "<a><b/>\n</a>") == []


def test_a_feed_of_one_long_line_is_compared_tag_by_tag() -> None:
    old, new = "<r><i>one</i><i>two</i></r>", "<r><i>one</i><i>TWO</i></r>"

    assert [(line.kind, line.text) for line in diff_lines(old, new)] == [
        ("same", "<r>"),
        ("same", "<i>one</i>"),
        ("removed", "<i>two</i>"),
        ("added", "<i>TWO</i>"),
        ("same", "</r>"),
    ]


def test_lines_far_from_any_difference_are_only_counted() -> None:
    lines = [f"line {n}" for n in range(40)]
    changed = [*lines[:20], "between", *lines[20:]]

    found = diff_lines("\n".join(lines), "\n".join(changed))

    assert found[0] == DiffLine("skipped", count=18)
    assert [line.text for line in found[1:-1]] == ["line 18", "line 19", "between", "line 20", "line 21"]
    assert found[-1] == DiffLine("skipped", count=18)


def test_without_the_added_lines_the_diff_is_the_first_document() -> None:
    old = "\n".join(f"a{n % 7} {n % 5}" for n in range(60))
    new = "\n".join(f"a{n % 7} {n % 4}" for n in range(70))

    found = diff_lines(old, new)

    kept = sum(line.count for line in found if line.kind in ("same", "skipped", "removed"))
    assert kept == 60
    assert sum(line.count for line in found if line.kind in ("same", "skipped", "added")) == 70


def test_two_documents_with_nothing_in_common_are_not_compared_for_long() -> None:
    old = "\n".join(f"old {n}" for n in range(MOST_LINES + 1))

    with pytest.raises(TooDifferent):
        diff_lines(old, old.replace("old", "new"))


def test_the_worst_comparison_takes_less_than_two_seconds() -> None:
    old = [f"line {n % (MOST_LINES // 15)}" for n in range(MOST_LINES)]

    started = time.process_time()
    diff_lines("\n".join(old), "\n".join(["first", *old[:0:-1]]))

    assert time.process_time() - started < 2
