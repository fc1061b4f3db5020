"""The driver for PostgreSQL, on asyncpg; its pool reconnects when the server comes back."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import asyncpg
from sqlalchemy.dialects.postgresql.asyncpg import dialect as asyncpg_dialect
from sqlalchemy.sql import Executable

from feedmill.errors import (
    ConstraintViolated,
    DatabaseAccessDenied,
    DatabaseError,
    DatabaseUnavailable,
    StatementRefused,
)
from feedmill.i18n.connection_errors import connection_message
from feedmill.i18n.messages import Message
from feedmill.store.database import NO_PARAMS, Params, Row, Step
from feedmill.store.dialect import Compiler
from feedmill.store.drivers.postgres_bulk_insert import MOST_ROWS, arrays_of, bulk_insert_sql
from feedmill.store.drivers.postgres_hosts import PostgresHosts
from feedmill.store.drivers.postgres_merged_steps import merge_steps
from feedmill.store.drivers.retry import TransactionConflict, retry_batch, retry_read

# As messages name it.
NAME = "PostgreSQL"
POOL_SIZE = 10
# For each host.
CONNECT_SECONDS = 5
# How long a call waits for a free connection before the database counts as unavailable.
WAIT_SECONDS = 30
CLOSE_SECONDS = 2
STATEMENT_SECONDS = 60
# A migration may write a table of hundreds of millions of rows anew, in one statement.
MIGRATION_SECONDS = 24 * 3600
# JIT compilation and parallel workers take longer than the query of a page, and PostgreSQL 15 underestimates the rows
# that workers sort. The default random_page_cost assumes a seek for every row of an index, so that the planner may
# read and sort a whole feed instead of one page of its index. With the default work_mem (4 MB) the bitmap of a common
# word does not fit, and the vectors of all its pages are read again.
SHORT_STATEMENTS = (
    "SET jit = off; SET max_parallel_workers_per_gather = 0; SET random_page_cost = 1.1; SET work_mem = '16MB'"
)
MIGRATION_LOCK = "SELECT pg_advisory_lock(hashtext('feedmill migrations'))"
MIGRATION_UNLOCK = "SELECT pg_advisory_unlock(hashtext('feedmill migrations'))"

TRANSACTION_CONFLICT = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)
CONNECTION_GONE = (
    OSError,
    asyncpg.InterfaceError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.InsufficientResourcesError,
    asyncpg.ReadOnlySQLTransactionError,
    # No host of several takes writes; or the server has just said that it ends this connection.
    asyncpg.InternalClientError,
)
ASYNCPG_ERRORS = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,
    ValueError,
)


class PostgresDatabase:
    dialect_name = "postgresql"

    def __init__(self, url: str, pool_size: int = POOL_SIZE, connect_seconds: float = CONNECT_SECONDS) -> None:
        self._url = url
        self._hosts = PostgresHosts(url)
        self._connect_seconds = connect_seconds
        # Without user name and password.
        self._where = urlsplit(url).netloc.rpartition("@")[2]
        self._pool_size = pool_size
        self._compile = Compiler(asyncpg_dialect())  # type: ignore[no-untyped-call]
        self._pool: asyncpg.Pool | None = None
        self._opening = asyncio.Lock()

    async def query(self, statement: Executable, params: Params = NO_PARAMS) -> list[Row]:
        compiled = self._compile(statement)
        values = compiled.values(params)
        return await retry_read(lambda: self._fetch(compiled.sql, values))

    async def batch(self, steps: Sequence[Step]) -> list[int]:
        return await retry_batch(lambda: self._run_batch(steps)) if steps else []

    async def exec(self, sql: str) -> None:
        async with self._connection() as connection:
            # IF NOT EXISTS does not help when two processes create the same table at once.
            await connection.execute(MIGRATION_LOCK, timeout=MIGRATION_SECONDS)
            try:
                await connection.execute(sql, timeout=MIGRATION_SECONDS)
            finally:
                await connection.execute(MIGRATION_UNLOCK)

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator["PostgresSnapshot"]:
        """A reader of the whole database as of one moment."""
        async with self._connection() as one, one.transaction(isolation="repeatable_read", readonly=True):
            yield PostgresSnapshot(one, self._compile)

    async def close(self) -> None:
        if self._pool is None:
            return
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._pool.close()
        except TimeoutError:
            self._pool.terminate()

    async def _fetch(self, sql: str, values: list[Any]) -> list[Row]:
        async with self._connection() as connection:
            return [dict(record) for record in await connection.fetch(sql, *values)]

    async def _run_batch(self, steps: Sequence[Step]) -> list[int]:
        async with self._connection() as connection:
            if len(steps) == 1 and _is_one_statement(steps[0]):  # atomic by itself, in one round trip instead of three
                return [await self._run_step(connection, *steps[0])]
            if merged := merge_steps(steps, self._compile):
                return [*await connection.fetchrow(merged.sql, *merged.values)]
            async with connection.transaction():
                return [await self._run_step(connection, *step) for step in steps]

    async def _run_step(self, connection: Any, statement: Executable, params: Params | Sequence[Params]) -> int:
        compiled = self._compile(statement)
        if isinstance(params, Sequence):
            await _run_for_rows(connection, compiled.sql, [compiled.values(one) for one in params])
            return -1
        return _rows_changed(await connection.execute(compiled.sql, *compiled.values(params)))

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Any]:
        try:
            pool = self._pool or await self._open()
            async with pool.acquire(timeout=WAIT_SECONDS) as connection, _no_reuse_if_broken(connection):
                yield connection
        except ASYNCPG_ERRORS as error:
            raise _translate(error, self._where) from error

    async def _open(self) -> asyncpg.Pool:
        async with self._opening:
            if self._pool is None:
                self._pool = await asyncpg.create_pool(
                    self._url,
                    min_size=0,
                    max_size=self._pool_size,
                    connect=self._hosts.connect,
                    timeout=self._connect_seconds,
                    command_timeout=STATEMENT_SECONDS,
                    server_settings={"application_name": "feedmill"},
                    init=_set_up_session,
                    reset=_skip_reset,
                )
        return self._pool


class PostgresSnapshot:
    """A connection inside a transaction that sees no changes."""

    def __init__(self, connection: Any, compile_: Compiler) -> None:
        self._connection = connection
        self._compile = compile_

    async def query(self, statement: Executable, params: Params = NO_PARAMS) -> list[Row]:
        compiled = self._compile(statement)
        return [dict(record) for record in await self._connection.fetch(compiled.sql, *compiled.values(params))]


@asynccontextmanager
async def _no_reuse_if_broken(connection: Any) -> AsyncIterator[None]:
    try:
        yield
    except asyncpg.InternalClientError:
        connection.terminate()
        raise


def _is_one_statement(step: Step) -> bool:
    return isinstance(step.params, Mapping) or len(step.params) <= MOST_ROWS


async def _run_for_rows(connection: Any, sql: str, rows: list[list[Any]]) -> None:
    """Runs a statement for each row; an insert of several rows is one statement."""
    if len(rows) > 1 and (bulk_insert := bulk_insert_sql(sql)):
        for arrays in arrays_of(rows):
            await connection.execute(bulk_insert, *arrays)
    else:
        await connection.executemany(sql, rows)


async def _set_up_session(connection: Any) -> None:
    await connection.execute(SHORT_STATEMENTS)


async def _skip_reset(connection: Any) -> None:
    """Does not reset the session: nothing outlives its transaction, and a reset is one more round trip."""


def _rows_changed(status: str) -> int:
    # "UPDATE 3", "INSERT 0 3"; other commands end in a word.
    last = status.rpartition(" ")[2]
    return int(last) if last.isdecimal() else 0


def _unavailable_because(error: Exception) -> Message | str:
    if isinstance(error, asyncpg.TargetServerAttributeNotMatched):
        return Message("database.only_standbys")
    return connection_message(error) or str(error) or type(error).__name__


def _translate(error: Exception, where: str) -> DatabaseError:
    match error:
        case asyncpg.IntegrityConstraintViolationError():
            return ConstraintViolated(str(error))
        case asyncpg.InvalidAuthorizationSpecificationError() | asyncpg.InsufficientPrivilegeError():
            return DatabaseAccessDenied(Message("database.access_denied", database=NAME, detail=str(error)))
        case _ if isinstance(error, TRANSACTION_CONFLICT):
            return TransactionConflict(Message("database.conflict", database=NAME, detail=str(error)))
        case _ if isinstance(error, CONNECTION_GONE):
            detail = _unavailable_because(error)
            return DatabaseUnavailable(Message("database.unavailable", database=NAME, place=where, detail=detail))
        case _:
            return StatementRefused(Message("database.refused", database=NAME, detail=str(error)))
