"""Named points of a refresh at which a process kills itself with SIGKILL."""

import asyncio
import os
import signal
import sqlite3
from collections.abc import Callable
from functools import partial
from typing import Any

import asyncpg

from feedmill.archive.files import FolderBlobs
from feedmill.collect import refresh
from feedmill.outbound.client import Client


class KillSwitch:
    """Kills the process with SIGKILL when it is reached for the n-th time."""

    def __init__(self, after: int) -> None:
        self._left = after

    def reach(self) -> None:
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self._left -= 1


def _kill_while_fetching(kill_switch: KillSwitch) -> None:
    get = Client.get

    async def get_and_kill(self: Client, *args: Any, **kwargs: Any) -> Any:
        asyncio.get_running_loop().call_later(0.005, kill_switch.reach)
        return await get(self, *args, **kwargs)

    Client.get = get_and_kill  # type: ignore[method-assign]


def _kill_after_parsing(kill_switch: KillSwitch) -> None:
    parse = refresh.parse_off_loop

    async def parse_and_kill(*args: Any, **kwargs: Any) -> Any:
        parsed = await parse(*args, **kwargs)
        kill_switch.reach()
        return parsed

    refresh.parse_off_loop = parse_and_kill


def _kill_after_keeping_raw(kill_switch: KillSwitch) -> None:
    put = FolderBlobs.put

    async def put_and_kill(self: FolderBlobs, key: str, data: bytes, content_type: str) -> None:
        await put(self, key, data, content_type)
        kill_switch.reach()

    FolderBlobs.put = put_and_kill  # type: ignore[method-assign]


def _kill_in_transaction(kill_switch: KillSwitch) -> None:
    """Within the transaction: after the entries, before the rows that follow from them."""
    postgres_many = asyncpg.Connection.executemany

    class KilledConnection(sqlite3.Connection):
        def executemany(self, sql: str, *args: Any) -> Any:
            cursor = super().executemany(sql, *args)
            if sql.startswith("INSERT INTO entries"):
                kill_switch.reach()
            return cursor

    async def executemany(self: Any, sql: str, *args: Any, **kwargs: Any) -> Any:
        answer = await postgres_many(self, sql, *args, **kwargs)
        if sql.startswith("INSERT INTO entries"):
            kill_switch.reach()
        return answer

    sqlite3.connect = partial(sqlite3.connect, factory=KilledConnection)
    asyncpg.Connection.executemany = executemany


def _kill_after_commit(kill_switch: KillSwitch) -> None:
    """After the commit, before the announcement."""
    record = refresh.record_refresh

    async def record_and_kill(*args: Any) -> None:
        await record(*args)
        kill_switch.reach()

    refresh.record_refresh = record_and_kill


POINTS: dict[str, Callable[[KillSwitch], None]] = {
    "fetching": _kill_while_fetching,
    "keeping": _kill_after_keeping_raw,
    "parsing": _kill_after_parsing,
    "committing": _kill_in_transaction,
    "announcing": _kill_after_commit,
}
