"""When a database server may be asked the same again: a read after a lost connection, a batch after a lost race."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from feedmill.errors import DatabaseError, DatabaseUnavailable

Result = TypeVar("Result")

RACE_TRIES = 5


class LostRace(DatabaseError):
    """Two batches stood in each other's way and the server undid ours."""


async def read_again(read: Callable[[], Awaitable[Result]]) -> Result:
    """Reads once more: the pool may have handed out a connection that died with the server's last restart."""
    try:
        return await read()
    except DatabaseUnavailable:
        return await read()


async def until_won(run: Callable[[], Awaitable[Result]]) -> Result:
    """Runs a batch until it wins its race; one that lost was undone whole, so it may be run again as it is."""
    for _ in range(RACE_TRIES - 1):
        try:
            return await run()
        except LostRace:
            await asyncio.sleep(0.01)
    return await run()
