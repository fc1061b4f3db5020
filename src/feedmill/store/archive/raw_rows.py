"""Writes rows into a SQLite file whose schema is older than ours: by the names of its own tables and columns."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

COLUMNS = "SELECT name FROM pragma_table_info(?)"


class RawRowWriter:
    """Rows of any order, in one transaction: references between them are not checked."""

    def __init__(self, file: Path) -> None:
        self._connection = sqlite3.connect(file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self._connection.commit()
        self._connection.close()

    def add(self, table: str, rows: Sequence[dict[str, Any]]) -> None:
        """Adds rows, or replaces those with the same key; leaves out tables and columns that the file does not have."""
        names = [name for (name,) in self._connection.execute(COLUMNS, (table,)) if name in rows[0]]
        if not names:
            return
        values = ", ".join(f":{name}" for name in names)
        # The names are those of the file's own schema.
        sql = f"INSERT OR REPLACE INTO {table} ({', '.join(names)}) VALUES ({values})"  # noqa: S608
        self._connection.executemany(sql, rows)
