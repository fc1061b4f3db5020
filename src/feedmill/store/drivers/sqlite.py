"""The driver for SQLite in WAL mode: many readers and one writer thread, so no call sees a locked database.

`synchronous` is NORMAL: a killed process loses nothing; a power cut may undo the last commits (each completely), and
the next refresh does that work again.
"""

import asyncio
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from sqlalchemy.dialects.sqlite import dialect as sqlite_dialect
from sqlalchemy.sql import Executable

from feedmill.errors import ConstraintViolated, DatabaseError, DatabaseUnavailable, StatementRefused
from feedmill.i18n.messages import Message
from feedmill.store.database import NO_PARAMS, Params, Row, Step
from feedmill.store.dialect import Compiler
from feedmill.store.drivers.sqlite_json_insert import bulk_insert_sql, json_lists
from feedmill.store.drivers.sqlite_writer import SqliteWriter, Work

Result = TypeVar("Result")

READERS = 4
# Other processes, such as commands, may hold the write lock for as long as their batch takes.
BUSY_SECONDS = 30
# A migration makes some dozens of changes in quick succession.
SCHEMA_CHANGES = 100
# Has an effect on a new file only. Texts of a few kB fit; with smaller pages a commit takes a third more CPU.
PAGE_SIZE = "PRAGMA page_size = 8192"
WAL = "PRAGMA journal_mode = WAL"
PRAGMAS = (
    "PRAGMA synchronous = NORMAL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -8000",
    "PRAGMA journal_size_limit = 67108864",
)
# By the primary code of an error, the end of the message's code.
UNAVAILABLE = {
    sqlite3.SQLITE_BUSY: "locked",
    sqlite3.SQLITE_LOCKED: "locked",
    sqlite3.SQLITE_READONLY: "read_only",
    sqlite3.SQLITE_IOERR: "io_error",
    sqlite3.SQLITE_FULL: "disk_full",
    sqlite3.SQLITE_CANTOPEN: "not_opened",
    sqlite3.SQLITE_PERM: "denied",
    sqlite3.SQLITE_CORRUPT: "damaged",
    sqlite3.SQLITE_NOTADB: "not_sqlite",
}
# One for all open files: compiled statements are the same for each.
COMPILE = Compiler(sqlite_dialect(paramstyle="qmark"))


class SqliteDatabase:
    dialect_name = "sqlite"

    def __init__(self, path: Path, busy_seconds: float = BUSY_SECONDS) -> None:
        self._path = path
        self._busy_seconds = busy_seconds
        self._thread_local = threading.local()
        self._open: list[sqlite3.Connection] = []
        self._readers = ThreadPoolExecutor(READERS, "sqlite-reader")
        self._writer = SqliteWriter(self._connect)

    async def query(self, statement: Executable, params: Params = NO_PARAMS) -> list[Row]:
        return await self.query_on(self._readers, statement, params)

    async def query_on(self, pool: ThreadPoolExecutor, statement: Executable, params: Params) -> list[Row]:
        """The rows that a statement selects, on a connection of a thread of this pool."""
        compiled = COMPILE(statement)
        values = compiled.values(params)
        return await self._on(pool, lambda connection: _select(connection, compiled.sql, values))

    async def batch(self, steps: Sequence[Step]) -> list[int]:
        if not steps:
            return []
        work = [self._bind(*step) for step in steps]
        changed: list[int] = await self._write(lambda connection: [_run_step(connection, *step) for step in work])
        return changed

    async def exec(self, sql: str) -> None:
        await self._write(lambda connection: connection.execute(sql).close(), alone=True)

    async def backup(self, target: Path) -> None:
        """A consistent copy of the whole database, made while others read and write."""
        await self._on(self._readers, lambda connection: _copy(connection, target))

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator["SqliteSnapshot"]:
        """A reader of the whole database as of one moment."""
        with ThreadPoolExecutor(1, "sqlite-snapshot") as thread:
            reader = SqliteSnapshot(self, thread)
            await self._on(thread, lambda connection: connection.execute("BEGIN").close())
            try:
                yield reader
            finally:
                await self._on(thread, lambda connection: connection.execute("ROLLBACK").close())

    async def close(self) -> None:
        await asyncio.to_thread(self._shut)

    def _bind(self, statement: Executable, params: Params | Sequence[Params]) -> tuple[str, Any, bool]:
        compiled = COMPILE(statement)
        if isinstance(params, Sequence):
            rows = [compiled.values(one) for one in params]
            if getattr(statement, "at_once", False) and (listed := bulk_insert_sql(compiled.sql)):
                return listed, [(chunk.listed.decode(),) for chunk in json_lists(rows)], True
            return compiled.sql, rows, True
        return compiled.sql, compiled.values(params), False

    async def _on(self, pool: ThreadPoolExecutor, work: Callable[[sqlite3.Connection], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(pool, self._guarded, work)

    async def _write(self, work: Work, *, alone: bool = False) -> Any:
        try:
            return await self._writer.run(work, alone=alone)
        except sqlite3.Error as error:
            raise self._translate(error) from error

    def _guarded(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        try:
            return work(self._connection())
        except sqlite3.Error as error:
            raise self._translate(error) from error

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._thread_local, "connection", None)
        if connection is None:
            connection = self._thread_local.connection = self._connect()
            self._open.append(connection)
        return connection

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path,
            timeout=self._busy_seconds,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        try:
            connection.execute(PAGE_SIZE)
            _turn_to_wal(connection, time.monotonic() + self._busy_seconds)
            for pragma in PRAGMAS:
                connection.execute(pragma)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _translate(self, error: sqlite3.Error) -> DatabaseError:
        code = getattr(error, "sqlite_errorcode", None)
        if isinstance(error, sqlite3.IntegrityError):
            return ConstraintViolated(str(error))
        # The low byte is the primary code.
        if code is not None and code & 0xFF in UNAVAILABLE:
            return DatabaseUnavailable(Message(f"database.file_{UNAVAILABLE[code & 0xFF]}", file=str(self._path)))
        return StatementRefused(Message("database.refused", database="SQLite", detail=str(error)))

    def _shut(self) -> None:
        self._readers.shutdown()
        self._writer.close()
        for connection in self._open:
            connection.close()


class SqliteSnapshot:
    """A separate connection in a transaction, which begins with its first query and sees no later changes."""

    def __init__(self, db: SqliteDatabase, thread: ThreadPoolExecutor) -> None:
        self._db = db
        self._thread = thread

    async def query(self, statement: Executable, params: Params = NO_PARAMS) -> list[Row]:
        return await self._db.query_on(self._thread, statement, params)


def _turn_to_wal(connection: sqlite3.Connection, deadline: float) -> None:
    """Retries: when several processes open a new file at once, SQLite refuses all but one without waiting."""
    while True:
        try:
            connection.execute(WAL)
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= deadline:
                raise
            time.sleep(0.01)


def _select(connection: sqlite3.Connection, sql: str, values: list[Any]) -> list[Row]:
    cursor = _execute_read(connection, sql, values)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def _execute_read(connection: sqlite3.Connection, sql: str, values: list[Any]) -> sqlite3.Cursor:
    """Prepares the statement again while another process changes the schema: SQLite itself does so only once."""
    for _ in range(SCHEMA_CHANGES):
        try:
            return connection.execute(sql, values)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_SCHEMA:
                raise
            time.sleep(0.01)
    return connection.execute(sql, values)


def _run_step(connection: sqlite3.Connection, sql: str, values: Any, many: bool) -> int:
    if many:
        connection.executemany(sql, values).close()
        return -1
    cursor = connection.execute(sql, values)
    changed = cursor.rowcount
    cursor.close()
    return changed


def _copy(connection: sqlite3.Connection, target: Path) -> None:
    copy = sqlite3.connect(target)
    try:
        connection.backup(copy, pages=1000)
    finally:
        copy.close()


def quick_check(path: Path) -> str:
    """The result of SQLite's check of a file that nobody uses: `ok`, or what is wrong. Leaves no other files."""
    with closing(sqlite3.connect(f"file:{quote(str(path))}?immutable=1", uri=True)) as connection:
        [[result]] = connection.execute("PRAGMA quick_check(1)").fetchall()
    return str(result)
