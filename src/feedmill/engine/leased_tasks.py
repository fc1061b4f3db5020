"""Runs the work of a chunk of leased tasks within a time limit, and releases the tasks that are left."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from datetime import timedelta
from typing import Any


async def run_leased_tasks(
    work: Sequence[Coroutine[Any, Any, None]], limit: timedelta, release: Callable[[], Awaitable[None]]
) -> bool:
    """Runs the work of a chunk of leased tasks for at most `limit`, then releases those that were not settled.

    False if the time was up before all of it was done: what was not reached waits for the next chunk.
    """
    try:
        async with asyncio.timeout(limit.total_seconds()):
            await _gather_all(work)
        return True
    except TimeoutError:
        return False
    finally:
        await asyncio.shield(release())


async def _gather_all(work: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Waits for all, also when one fails, and then raises the first failure, so that none keeps running unnoticed."""
    for outcome in await asyncio.gather(*work, return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome
