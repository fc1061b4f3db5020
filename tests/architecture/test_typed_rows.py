"""Rows become typed values at the edge of `store/`: a misspelled column is found by the type checker."""

import ast
from collections.abc import Iterator
from pathlib import Path

import feedmill.store

STORE = Path(feedmill.store.__file__).parent
# Ports and schema, which have no rows of a noun.
NO_NOUNS = {"drivers", "migrations", "schema"}
MAPPINGS = ("Mapping[str, Any]", "Mapping[str, object]", "dict[str, Any]", "dict[str, object]")

# Functions that may hand out rows, each with its reason.
MAY_RETURN_MAPPINGS = {
    "archive/database_snapshot.py:query": "the port of a snapshot",
    "archive/database_snapshot.py:read_table": "a backup copies whole tables, whatever their columns are",
    "feeds/add_feeds.py:option_values": "columns to write, not a row",
    "entries/list_pages.py:params": "parameters of a statement, not a row",
    "subscriptions/feed_settings.py:settings_columns": "columns to write, not a row",
}


def mappings_in(source: str) -> Iterator[str]:
    """The public functions and methods that return rows."""
    for node in ast.walk(ast.parse(source)):
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if is_function and not node.name.startswith("_") and _is_mapping(node.returns):
            yield node.name


def _is_mapping(returned: ast.expr | None) -> bool:
    if returned is None:
        return False
    names = {part.id for part in ast.walk(returned) if isinstance(part, ast.Name)}
    return "Row" in names or any(mapping in ast.unparse(returned) for mapping in MAPPINGS)


def test_functions_of_the_store_return_typed_values() -> None:
    found = {
        f"{path.relative_to(STORE)}:{name}"
        for folder in STORE.iterdir()
        if folder.is_dir() and folder.name not in NO_NOUNS
        for path in folder.rglob("*.py")
        for name in mappings_in(path.read_text())
    }

    assert found == set(MAY_RETURN_MAPPINGS)


def test_a_function_that_returns_rows_is_found() -> None:
    assert list(mappings_in("async def f() -> list[Row]: ...\ndef g() -> dict[str, Any]: ...")) == ["f", "g"]
    assert list(mappings_in("def _f() -> Row: ...\ndef g() -> dict[str, int]: ...\ndef h(row: Row) -> Rows: ...")) == []
