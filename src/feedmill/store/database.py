"""The database port: query, batch and exec, the same on SQLite, PostgreSQL, MySQL and D1.

Values are plain: None, int, float and str go in and come out. Booleans are 0 and 1, times are the text of
`feedmill.model.timestamps`, structures are JSON text. So every database keeps and compares them the same way.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from sqlalchemy.sql import Executable

Row = Mapping[str, Any]
Params = Mapping[str, Any]
NO_PARAMS: Params = MappingProxyType({})


class Step(NamedTuple):
    """One statement of a batch. A list of parameters runs it once for each, in order."""

    statement: Executable
    params: Params | Sequence[Params] = NO_PARAMS


class Database(Protocol):
    """A relational database. Every failure is a `DatabaseError`."""

    @property
    def dialect_name(self) -> str:
        """`sqlite`, `postgresql` or `mysql`: the SQL dialect of statements."""

    async def query(self, statement: Executable, params: Params = NO_PARAMS) -> list[Row]:
        """The rows that a statement selects. It must change nothing: a driver may run it twice."""

    async def batch(self, steps: Sequence[Step]) -> list[int]:
        """Runs all steps or none; how many rows each changed (-1 for a step with a list of parameters)."""

    async def exec(self, sql: str) -> None:
        """Runs one statement of raw SQL, for migrations only."""

    async def close(self) -> None:
        """Closes all connections."""
