"""Runs coroutines in the background of a block and cancels them at its end."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from feedmill.engine.in_process import CANCEL_GRACE


@asynccontextmanager
async def run_in_background(*work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Runs these for the block; at its end they are cancelled, and not waited for much longer."""
    running = [asyncio.create_task(one) for one in work]
    try:
        yield
    finally:
        for task in running:
            task.cancel()
        await asyncio.wait(running, timeout=CANCEL_GRACE.total_seconds())
