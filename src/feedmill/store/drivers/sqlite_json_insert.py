"""Rewrites a one-row insert to read its rows from a JSON list, for SQLite and D1."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

# The size of a list: half of D1's longest text, to limit the memory of the database.
LIST_BYTES = 1_000_000
SQL_TOKEN = re.compile(r"""'[^']*'|"[^"]*"|\?|[()]|\bVALUES\b|[^'"?()V]+|V""")


@lru_cache(maxsize=1024)
def bulk_insert_sql(sql: str) -> str | None:
    """The same insert with its rows from one parameter, a list of lists of values; None if that can't be done."""
    parts = _parts_of_insert(SQL_TOKEN.findall(sql))
    if parts is None:
        return None
    head, row, tail = parts
    if "?" in head + tail or "".join(tail).startswith(",") or _reads_its_own_table("".join(head), "".join(row)):
        return None
    numbers = iter(range(len(row)))
    values = [f"json_extract(listed.value, '$[{next(numbers)}]')" if word == "?" else word for word in row]
    # WHERE true: without it SQLite parses ON CONFLICT as the condition of a join.
    source = " FROM json_each(?) AS listed WHERE true"
    return "".join([*head, "SELECT ", *values, source, *tail])


class JsonRows(NamedTuple):
    """Rows and the JSON list of them; a row that is too long for a list is alone."""

    rows: list[Sequence[Any]]
    listed: bytes

    @property
    def is_too_long(self) -> bool:
        return len(self.listed) > LIST_BYTES + len(b"[]")


def json_lists(rows: Iterable[Sequence[Any]]) -> Iterator[JsonRows]:
    """The rows in as few lists as possible."""
    chunk: list[Sequence[Any]] = []
    encoded: list[bytes] = []
    size = 0
    for row in rows:
        text = msgspec.json.encode(row)
        if chunk and size + len(text) > LIST_BYTES:
            yield JsonRows(chunk, _joined(encoded))
            chunk, encoded, size = [], [], 0
        chunk.append(row)
        encoded.append(text)
        size += len(text) + len(b",")
    if chunk:
        yield JsonRows(chunk, _joined(encoded))


def _joined(encoded: list[bytes]) -> bytes:
    return b"[" + b",".join(encoded) + b"]"


def _reads_its_own_table(head: str, row: str) -> bool:
    """Whether a row may depend on rows that the same statement inserts before it."""
    table = head.removeprefix("INSERT INTO ").split()[0].strip('"')
    return bool(re.search(r"\bSELECT\b", row)) and bool(re.search(rf"\b{re.escape(table)}\b", row))


def _parts_of_insert(words: list[str]) -> tuple[list[str], list[str], list[str]] | None:
    """The SQL before VALUES, inside its parentheses and after them; None if it is no such insert."""
    if not words or not words[0].startswith("INSERT INTO ") or "VALUES" not in words:
        return None
    values = words.index("VALUES")
    if words[values + 1 : values + 3] != [" ", "("]:
        return None
    depth = 0
    for at in range(values + 2, len(words)):
        depth += {"(": 1, ")": -1}.get(words[at], 0)
        if words[at] == ")" and depth == 0:
            return words[:values], words[values + 3 : at], words[at + 1 :]
    return None
