"""The driver for MariaDB, on asyncmy; its pool reconnects when the server comes back."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import unquote, urlsplit

import asyncmy
from asyncmy.cursors import DictCursor
from asyncmy.errors import IntegrityError, InterfaceError, MySQLError, OperationalError
from sqlalchemy.dialects.mysql.asyncmy import dialect as asyncmy_dialect
from sqlalchemy.sql import Executable

from feedmill.errors import (
    BadSetting,
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
from feedmill.store.drivers.retry import TransactionConflict, retry_batch, retry_read

# As messages name it.
NAME = "MySQL"
POOL_SIZE = 10
CONNECT_SECONDS = 5

# The default, repeatable read, takes gap locks, which make concurrent inserts wait for each other.
ISOLATION = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"
SQL_MODE = "'STRICT_ALL_TABLES,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO'"
# Makes the server count the rows that a statement matched, as the other databases do, not those it changed.
FOUND_ROWS = 2
ACCESS = {1044, 1045, 1142, 1227}
TRANSACTION_CONFLICT = {1205, 1213}
CONSTRAINT = {1048, 1062, 1169, 1216, 1217, 1451, 1452, 3819, 4025}
CONNECTION_GONE = {
    1021,
    1037,
    1040,
    1041,
    1042,
    1049,
    1053,
    1114,
    1152,
    1153,
    1158,
    1159,
    1160,
    1161,
    1290,
    1836,
    2002,
    2003,
    2006,
    2013,
    2014,
    2055,
}


class MysqlDatabase:
    dialect_name = "mysql"

    def __init__(self, url: str, pool_size: int = POOL_SIZE) -> None:
        self._target = _target(url)
        self._pool_size = pool_size
        self._compile = Compiler(asyncmy_dialect())
        self._pool: Any = None
        self._opening = asyncio.Lock()

    async def query(self, statement: Executable, params: Params = NO_PARAMS) -> list[Row]:
        compiled = self._compile(statement)
        values = compiled.values(params)
        return await retry_read(lambda: self._fetch(compiled.sql, values))

    async def batch(self, steps: Sequence[Step]) -> list[int]:
        return await retry_batch(lambda: self._run_batch(steps)) if steps else []

    async def exec(self, sql: str) -> None:
        async with self._connection() as connection, connection.cursor() as cursor:
            await cursor.execute(sql)

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator["MysqlSnapshot"]:
        """A reader of the whole database as of one moment."""
        async with self._connection() as connection, connection.cursor() as cursor:
            await cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            await cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
            try:
                yield MysqlSnapshot(connection, self._compile)
            finally:
                await _undo(connection)

    async def close(self) -> None:
        if self._pool is not None:
            self._pool.close()
            await self._pool.wait_closed()

    async def _fetch(self, sql: str, values: list[Any]) -> list[Row]:
        async with self._connection() as connection, connection.cursor(DictCursor) as cursor:
            await cursor.execute(sql, values)
            return list(await cursor.fetchall())

    async def _run_batch(self, steps: Sequence[Step]) -> list[int]:
        async with self._connection() as connection:
            await connection.begin()
            try:
                changed = [await self._run_step(connection, *step) for step in steps]
                await connection.commit()
            except BaseException:
                await _undo(connection)
                raise
            return changed

    async def _run_step(self, connection: Any, statement: Executable, params: Params | Sequence[Params]) -> int:
        compiled = self._compile(statement)
        async with connection.cursor() as cursor:
            if isinstance(params, Sequence):
                for one in params:
                    await cursor.execute(compiled.sql, compiled.values(one))
                return -1
            await cursor.execute(compiled.sql, compiled.values(params))
            return int(cursor.rowcount)

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Any]:
        try:
            pool = self._pool or await self._open()
            async with pool.acquire() as connection:
                yield connection
        except (MySQLError, OSError) as error:
            raise _translate(error, f"{self._target['host']}:{self._target['port']}") from error

    async def _open(self) -> Any:
        async with self._opening:
            if self._pool is None:
                pool = await self._create_pool()
                await _check_server(pool)
                self._pool = pool
        return self._pool

    async def _create_pool(self) -> Any:
        return await asyncmy.create_pool(
            **self._target,
            minsize=0,
            maxsize=self._pool_size,
            pool_recycle=600,
            autocommit=True,
            charset="utf8mb4",
            connect_timeout=CONNECT_SECONDS,
            init_command=ISOLATION,
            sql_mode=SQL_MODE,
            client_flag=FOUND_ROWS,
        )


async def _check_server(pool: Any) -> None:
    """Closes the pool unless it leads to a server that is supported."""
    try:
        async with pool.acquire() as connection, connection.cursor() as cursor:
            await cursor.execute("SELECT VERSION()")
            [version] = await cursor.fetchone()
        require_mariadb(version)
    except BaseException:
        pool.close()
        await pool.wait_closed()
        raise


class MysqlSnapshot:
    """A connection inside a transaction that sees no changes."""

    def __init__(self, connection: Any, compile_: Compiler) -> None:
        self._connection = connection
        self._compile = compile_

    async def query(self, statement: Executable, params: Params = NO_PARAMS) -> list[Row]:
        compiled = self._compile(statement)
        async with self._connection.cursor(DictCursor) as cursor:
            await cursor.execute(compiled.sql, compiled.values(params))
            return list(await cursor.fetchall())


async def _undo(connection: Any) -> None:
    # A connection lost during a batch must not go back to the pool; the server rolls the batch back.
    try:
        await connection.rollback()
    except (MySQLError, OSError):
        connection.close()


def require_mariadb(version: str) -> None:
    """Raises `BadSetting` for a server whose SQL lacks what our statements need: docs/decisions/mariadb.md."""
    if "mariadb" not in version.lower():
        raise BadSetting(f"database: the server is MySQL {version}, which is not supported: use MariaDB 10.6 or later")


def _target(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    if not parts.hostname or not parts.path.strip("/"):
        raise BadSetting("database: a MySQL URL looks like mysql://user:password@host:3306/name")
    return {
        "host": parts.hostname,
        "port": parts.port or 3306,
        "user": unquote(parts.username or "root"),
        "password": unquote(parts.password or ""),
        "db": parts.path.strip("/"),
    }


def _translate(error: MySQLError | OSError, where: str) -> DatabaseError:
    code = error.args[0] if error.args and isinstance(error.args[0], int) else 0
    if isinstance(error, IntegrityError) or code in CONSTRAINT:
        return ConstraintViolated(str(error))
    if code in ACCESS:
        return DatabaseAccessDenied(Message("database.access_denied", database=NAME, detail=str(error)))
    if code in TRANSACTION_CONFLICT:
        return TransactionConflict(Message("database.conflict", database=NAME, detail=str(error)))
    if isinstance(error, OSError | InterfaceError) or code in CONNECTION_GONE or _is_cut(error):
        reason = connection_message(error) or str(error)
        return DatabaseUnavailable(Message("database.unavailable", database=NAME, place=where, detail=reason))
    return StatementRefused(Message("database.refused", database=NAME, detail=str(error)))


def _is_cut(error: MySQLError | OSError) -> bool:
    return isinstance(error, OperationalError) and "connection" in str(error).lower()
