"""Retries a read after a lost connection and a batch after a deadlock or serialization failure."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from feedmill.errors import DatabaseError, DatabaseUnavailable

Result = TypeVar("Result")

BATCH_TRIES = 5


class TransactionConflict(DatabaseError):
    """Two batches conflicted, and the server rolled ours back."""


async def retry_read(read: Callable[[], Awaitable[Result]]) -> Result:
    """Retries a read once: the pool may have returned a connection that was lost when the server restarted."""
    try:
        return await read()
    except DatabaseUnavailable:
        return await read()


async def retry_batch(run: Callable[[], Awaitable[Result]]) -> Result:
    """Runs a batch, and retries it after a conflict: it was rolled back completely."""
    for _ in range(BATCH_TRIES - 1):
        try:
            return await run()
        except TransactionConflict:
            await asyncio.sleep(0.01)
    return await run()
