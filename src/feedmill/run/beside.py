"""Work that runs beside a block of code and ends with it."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from feedmill.engine.inprocess import LAST_WORDS


@asynccontextmanager
async def beside(*work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Runs these for the block; at its end they are cancelled, and not waited for much longer."""
    running = [asyncio.create_task(one) for one in work]
    try:
        yield
    finally:
        for task in running:
            task.cancel()
        await asyncio.wait(running, timeout=LAST_WORDS.total_seconds())
