"""Reads the whole database as of one moment, page by page, for a backup."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache
from typing import Any, Protocol, runtime_checkable

from sqlalchemy import ColumnElement, Select, Table, and_, bindparam, or_, select
from sqlalchemy.sql import Executable

from feedmill.store.database import NO_PARAMS, Database, Params, Row
from feedmill.store.schema import entries, icons, locks, metadata, migrations, revisions

# Tables of the running instance, which a backup leaves out.
TABLES = tuple(table for table in metadata.sorted_tables if table not in (locks, migrations))
PAGE = 1000
# Tables with large rows are read in smaller pages.
LONG_PAGE = 100


class SnapshotReader(Protocol):
    """A connection that statements select from."""

    async def query(self, statement: Executable, params: Params = NO_PARAMS) -> list[Row]:
        """The rows that a statement selects."""


@runtime_checkable
class SnapshotDatabase(Protocol):
    """A database that can be read as of one moment."""

    def snapshot(self) -> AbstractAsyncContextManager[SnapshotReader]:
        """A reader that sees no later changes."""


@asynccontextmanager
async def open_snapshot(db: Database) -> AsyncIterator[tuple[SnapshotReader, bool]]:
    """A reader as of one moment and True; on D1, which has no snapshots, a reader of the live database and False."""
    if not isinstance(db, SnapshotDatabase):
        yield db, False
        return
    async with db.snapshot() as reader:
        yield reader, True


async def read_table(reader: SnapshotReader, table: Table) -> AsyncIterator[list[Row]]:
    """All rows of a table, a page at a time."""
    first, following = _pages(table)
    page = await reader.query(first)
    while page:
        yield page
        last = {f"after_{column.name}": page[-1][column.name] for column in table.primary_key}
        page = await reader.query(following, last)


@cache
def _pages(table: Table) -> tuple[Select[Any], Select[Any]]:
    size = LONG_PAGE if table in (entries, revisions, icons) else PAGE
    first = select(table).order_by(*table.primary_key).limit(size)
    return first, first.where(_after(list(table.primary_key)))


def _after(columns: list[ColumnElement[Any]]) -> ColumnElement[bool]:
    """Whether a row comes after the last one of the page before."""
    [first, *rest] = columns
    last = bindparam(f"after_{first.key}", type_=first.type)
    return or_(first > last, and_(first == last, _after(rest))) if rest else first > last
