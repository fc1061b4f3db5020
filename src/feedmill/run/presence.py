"""Shows the other processes that this one is at work."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from feedmill.coordination.sight import SEEN_FOR, Sight
from feedmill.errors import CoordinationUnavailable
from feedmill.pools.tools import this_process
from feedmill.run.beside import beside

SHOW_EVERY = SEEN_FOR / 3


@asynccontextmanager
async def present(sight: Sight, role: str) -> AsyncIterator[None]:
    """Is seen as `role` for the block, whenever there is somewhere to be seen."""
    name = this_process()
    try:
        async with beside(_keep_showing(sight, role, name)):
            yield
    finally:
        with suppress(CoordinationUnavailable):
            await sight.leave(role, name)


async def _keep_showing(sight: Sight, role: str, name: str) -> None:
    while True:
        with suppress(CoordinationUnavailable):
            await sight.show(role, name)
        await asyncio.sleep(SHOW_EVERY.total_seconds())
