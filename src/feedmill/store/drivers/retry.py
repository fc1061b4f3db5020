"""Retries a read after a lost connection and a batch after a deadlock or serialization failure."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from feedmill.errors import DatabaseError, DatabaseUnavailable

Result = TypeVar("Result")

BATCH_TRIES = 5


class TransactionConflict(DatabaseError):
    """Two batches stood in each other's way and the server undid ours."""


async def retry_read(read: Callable[[], Awaitable[Result]]) -> Result:
    """Reads once more: the pool may have handed out a connection that died with the server's last restart."""
    try:
        return await read()
    except DatabaseUnavailable:
        return await read()


async def retry_batch(run: Callable[[], Awaitable[Result]]) -> Result:
    """Runs a batch until it wins its race; one that lost was undone whole, so it may be run again as it is."""
    for _ in range(BATCH_TRIES - 1):
        try:
            return await run()
        except TransactionConflict:
            await asyncio.sleep(0.01)
    return await run()
