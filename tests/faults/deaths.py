"""Where a mill may die: at a named point of a refresh, without a chance to tidy up."""

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


class Doom:
    """Kills the process, without a chance to tidy up, when it was met often enough."""

    def __init__(self, after: int) -> None:
        self._left = after

    def meet(self) -> None:
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self._left -= 1


def _die_fetching(doom: Doom) -> None:
    get = Client.get

    async def get_and_die(self: Client, *args: Any, **kwargs: Any) -> Any:
        asyncio.get_running_loop().call_later(0.005, doom.meet)
        return await get(self, *args, **kwargs)

    Client.get = get_and_die  # type: ignore[method-assign]


def _die_parsing(doom: Doom) -> None:
    parse = refresh.parse_off_loop

    async def parse_and_die(*args: Any, **kwargs: Any) -> Any:
        parsed = await parse(*args, **kwargs)
        doom.meet()
        return parsed

    refresh.parse_off_loop = parse_and_die


def _die_keeping(doom: Doom) -> None:
    put = FolderBlobs.put

    async def put_and_die(self: FolderBlobs, key: str, data: bytes, content_type: str) -> None:
        await put(self, key, data, content_type)
        doom.meet()

    FolderBlobs.put = put_and_die  # type: ignore[method-assign]


def _die_committing(doom: Doom) -> None:
    """In the transaction: the entries are in, what follows from them is not."""
    postgres_many = asyncpg.Connection.executemany

    class DoomedConnection(sqlite3.Connection):
        def executemany(self, sql: str, *args: Any) -> Any:
            cursor = super().executemany(sql, *args)
            if sql.startswith("INSERT INTO entries"):
                doom.meet()
            return cursor

    async def executemany(self: Any, sql: str, *args: Any, **kwargs: Any) -> Any:
        answer = await postgres_many(self, sql, *args, **kwargs)
        if sql.startswith("INSERT INTO entries"):
            doom.meet()
        return answer

    sqlite3.connect = partial(sqlite3.connect, factory=DoomedConnection)
    asyncpg.Connection.executemany = executemany


def _die_announcing(doom: Doom) -> None:
    """After the commit, before anybody is told."""
    record = refresh.record_refresh

    async def record_and_die(*args: Any) -> None:
        await record(*args)
        doom.meet()

    refresh.record_refresh = record_and_die


POINTS: dict[str, Callable[[Doom], None]] = {
    "fetching": _die_fetching,
    "keeping": _die_keeping,
    "parsing": _die_parsing,
    "committing": _die_committing,
    "announcing": _die_announcing,
}
