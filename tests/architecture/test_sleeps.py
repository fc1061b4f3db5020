"""Tests wait for a condition, never for a time: a time that is enough here is too short on a busy machine."""

import ast
import os
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]

# Files that may wait for a time, each with its reason.
MAY_SLEEP = {
    "waiting.py": "looks at a condition again and again, is the slow stranger of other tests, and lets faults last",
    "services/mariadb.py": "looks again and again whether the server is up",
    "services/postgres.py": "looks again and again whether the server is up",
    "services/s3.py": "looks again and again whether the server is up",
    "services/server.py": "looks again and again whether the server is up",
    "virtual_time.py": "its time passes at once",
}


def python_files() -> Iterator[Path]:
    for folder, subfolders, files in os.walk(TESTS):
        subfolders[:] = [name for name in subfolders if name not in ("node_modules", "__pycache__")]
        yield from (Path(folder, name) for name in files if name.endswith(".py"))


def sleeps_in(source: str) -> Iterator[int]:
    """The lines that call, or hand on, a sleep of `time` or `asyncio`; `sleep(0)` lets others run and is none."""
    if "sleep" not in source:
        return
    tree = ast.parse(source)
    names = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in ("time", "asyncio")
        for alias in node.names
        if alias.name == "sleep"
    }
    yields = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_zero(node)}
    for node in ast.walk(tree):
        if _is_sleep(node, names) and id(node) not in yields:
            yield node.lineno  # type: ignore[attr-defined]


def _is_sleep(node: ast.AST, names: set[str]) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id="time" | "asyncio"), attr="sleep"):
            return True
        case ast.Name(id=name, ctx=ast.Load()):
            return name in names
    return False


def _is_zero(call: ast.Call) -> bool:
    match call.args:
        case [ast.Constant(value=0)]:
            return True
    return False


def test_no_test_sleeps() -> None:
    sleeps = {str(path.relative_to(TESTS)): list(sleeps_in(path.read_text("utf-8"))) for path in python_files()}
    found = {name: lines for name, lines in sleeps.items() if lines}

    assert {name: lines for name, lines in found.items() if name not in MAY_SLEEP} == {}
    assert set(MAY_SLEEP) <= set(found), "these don't sleep any more, and need no exception"


def test_a_sleep_is_found_however_it_is_called() -> None:
    source = "\n".join(
        [
            "import asyncio, time",
            "from time import sleep",
            "from asyncio import sleep as rest",
            "time.sleep(1)",
            "asyncio.sleep(0)",
            "asyncio.sleep(0.1)",
            "sleep(2)",
            "rest(3)",
            "wait = time.sleep",
            "clock.sleep(1)",
        ]
    )

    assert sorted(sleeps_in(source)) == [4, 6, 7, 8, 9]
