"""Rewrites a one-row insert to read its rows from arrays, one for each parameter, for PostgreSQL."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from feedmill.store.chunks import chunked

# The rows of one statement, to limit the memory of both sides.
MOST_ROWS = 500
# Parameters have a type, as SQLAlchemy and our own SQL write them.
PARAMETER = re.compile(r"CAST\(\$(\d+) AS ([a-z]+)\)|\$(\d+)::([A-Z]+)\b(?! *\()")
SQL_TOKEN = re.compile(r"""'[^']*'|"[^"]*"|[()]|[^'"()]+""")


@lru_cache(maxsize=1024)
def bulk_insert_sql(sql: str) -> str | None:
    """The same insert with its rows from arrays, which inserts them in their order; None if that can't be done."""
    head, _, values = sql.partition(" VALUES (")
    if not values or not head.startswith("INSERT INTO "):
        return None
    row, tail = _split_at_end_of_row(values)
    types: dict[int, str] = {}

    def listed(parameter: re.Match[str]) -> str:
        number = int(parameter[1] or parameter[3])
        types[number] = parameter[2] or parameter[4]
        return f"listed.p{number}"

    row = PARAMETER.sub(listed, row)
    if not types or "$" in row + tail or tail.startswith(",") or _depends_on_other_rows(head, row, tail):
        return None
    arrays = ", ".join(f"${number}::{types[number]}[]" for number in sorted(types))
    names = ", ".join(f"p{number}" for number in sorted(types))
    return " ".join([head, "SELECT", row, "FROM", f"unnest({arrays}) AS listed({names}){tail}"])


def arrays_of(rows: Sequence[Sequence[Any]]) -> Iterator[list[list[Any]]]:
    """The arguments of a bulk insert, for each statement that it takes: an array for each parameter."""
    for chunk in chunked(rows, MOST_ROWS):
        yield [list(values) for values in zip(*chunk, strict=True)]


def _split_at_end_of_row(values: str) -> tuple[str, str]:
    """What is inside the parentheses of a row, and what follows them."""
    depth, end = 1, 0
    for token in SQL_TOKEN.findall(values):
        depth += {"(": 1, ")": -1}.get(token, 0)
        if depth == 0:
            return values[:end], values[end + 1 :]
        end += len(token)
    return values, ""


def _depends_on_other_rows(head: str, row: str, tail: str) -> bool:
    """Whether a row may depend on rows that the same statement inserts, or may update one of them."""
    table = head.removeprefix("INSERT INTO ").split()[0]
    return "DO UPDATE" in tail or bool(re.search(rf"\b(?:FROM|JOIN)\s+{re.escape(table)}\b", row))
