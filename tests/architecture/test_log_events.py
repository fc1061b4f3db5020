"""Every log event has a stable name, and docs/running/monitoring.md says what it means.

Events are collected from the source: the first argument of each call of a logger.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.source_trees import SourceTree, trees_with

PAGE = Path(__file__).parents[2].joinpath("docs", "running", "monitoring.md").read_text()
LEVELS = {
    "debug": "debug",
    "info": "info",
    "warning": "warning",
    "error": "error",
    "exception": "error",
    "critical": "critical",
}
SNAKE_CASE = re.compile(r"[a-z]+(?:_[a-z]+)+")
ROW = re.compile(r"^\| `([^`]+)` \| ([a-z, ]+) \| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)
CODE = re.compile(r"`(\w+)`")
# How an exception gets into a line; there it is the field `exception`.
TRACEBACK = "exc_info"


class LogCall(NamedTuple):
    """`event` is None if the call does not name it by a literal; `has_more`: some fields are in a mapping."""

    where: str
    event: str | None
    level: str
    fields: frozenset[str]
    has_more: bool


class EventRow(NamedTuple):
    """A row of the table of events."""

    levels: frozenset[str]
    fields: frozenset[str]
    texts: tuple[str, str]


def test_every_event_is_a_snake_case_literal() -> None:
    wrong = [call for call in log_calls() if call.event is None or not SNAKE_CASE.fullmatch(call.event)]

    assert wrong == []


def test_no_logging_method_is_passed_around() -> None:
    """The event and the level of a call could else not be read from the source."""
    assert [where for name, tree in logging_modules() for where in uncalled_in(tree, name)] == []


def test_the_table_has_every_event_and_no_other() -> None:
    assert sorted(row[0] for row in ROW.findall(EVENTS)) == sorted({str(call.event) for call in log_calls()})


def test_the_table_has_the_levels_of_every_event() -> None:
    levels = {event: frozenset(call.level for call in calls) for event, calls in by_event().items()}

    assert levels == {event: row.levels for event, row in TABLE.items()}


def test_the_table_has_the_fields_of_every_event() -> None:
    named = {event: frozenset().union(*(call.fields for call in calls)) for event, calls in by_event().items()}
    open_ended = {event for event, calls in by_event().items() if any(call.has_more for call in calls)}

    missing = {event: fields - TABLE[event].fields for event, fields in named.items()}
    unknown = {event: row.fields - named[event] for event, row in TABLE.items() if event not in open_ended}

    assert {event: fields for event, fields in missing.items() if fields} == {}
    assert {event: fields for event, fields in unknown.items() if fields} == {}


def test_the_table_says_when_an_event_is_logged_and_what_to_do() -> None:
    assert [event for event, row in TABLE.items() if not all(text.strip() for text in row.texts)] == []


def test_a_call_that_hides_its_event_is_found() -> None:
    tree = ast.parse("tell = log.info\nlog.warning('a b', x=1)\nlog.error(name, **more)\nlog.exception('feed_gone')")

    assert [(call.event, call.level, set(call.fields), call.has_more) for call in calls_in(tree, "m")] == [
        ("a b", "warning", {"x"}, False),
        (None, "error", set(), True),
        ("feed_gone", "error", set(), False),
    ]
    assert list(uncalled_in(tree, "m")) == ["m:1"]


def calls_in(tree: ast.AST, name: str) -> Iterator[LogCall]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and is_log_method(node.func):
            yield read_call(node, name)


def read_call(call: ast.Call, name: str) -> LogCall:
    assert isinstance(call.func, ast.Attribute)
    first = call.args[0] if call.args else None
    event = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None
    fields = frozenset(keyword.arg for keyword in call.keywords if keyword.arg not in (None, TRACEBACK))
    has_more = any(keyword.arg is None for keyword in call.keywords)
    return LogCall(f"{name}:{call.lineno}", event, LEVELS[call.func.attr], frozenset(filter(None, fields)), has_more)


def uncalled_in(tree: ast.AST, name: str) -> Iterator[str]:
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_log_method(node) and id(node) not in called:
            yield f"{name}:{node.lineno}"


def is_log_method(node: ast.AST) -> bool:
    """`log.info`, or `get_logger(…).info`."""
    if not isinstance(node, ast.Attribute) or node.attr not in LEVELS:
        return False
    owner = node.value
    if isinstance(owner, ast.Call):
        return ast.unparse(owner.func).rpartition(".")[2] == "get_logger"
    return isinstance(owner, ast.Name) and owner.id == "log"


def read_table(page: str) -> dict[str, EventRow]:
    return {
        event: EventRow(frozenset(levels.split(", ")), frozenset(CODE.findall(fields)), (when, what_to_do))
        for event, levels, when, fields, what_to_do in ROW.findall(page)
    }


def by_event() -> dict[str, Sequence[LogCall]]:
    found: dict[str, list[LogCall]] = {}
    for call in log_calls():
        found.setdefault(str(call.event), []).append(call)
    return dict(found)


@cache
def log_calls() -> Sequence[LogCall]:
    return tuple(call for name, tree in logging_modules() for call in calls_in(tree, name))


def logging_modules() -> Iterator[SourceTree]:
    return trees_with("log.", "get_logger")


EVENTS = PAGE.partition("\n### Events\n")[2].partition("\n## ")[0]
TABLE = read_table(EVENTS)
