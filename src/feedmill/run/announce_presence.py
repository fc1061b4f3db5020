"""Announces to the other processes that this one is running."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from feedmill.coordination.presence import PRESENCE_TIMEOUT, Presence
from feedmill.dependency_outages import DEPENDENCY_OUTAGES, REDIS
from feedmill.errors import CoordinationUnavailable
from feedmill.pools.claim_tokens import process_name
from feedmill.run.run_in_background import run_in_background

ANNOUNCE_EVERY = PRESENCE_TIMEOUT / 3


@asynccontextmanager
async def announce_presence(presence: Presence, role: str) -> AsyncIterator[None]:
    """Announces this process as `role` for the duration of the block, whenever Redis answers."""
    name = process_name()
    try:
        async with run_in_background(_keep_announcing(presence, role, name)):
            yield
    finally:
        with suppress(CoordinationUnavailable):
            await presence.withdraw(role, name)


async def _keep_announcing(presence: Presence, role: str, name: str) -> None:
    while True:
        try:
            await presence.announce(role, name)
            DEPENDENCY_OUTAGES.answered(REDIS)
        except CoordinationUnavailable as error:
            DEPENDENCY_OUTAGES.failed("show_presence", error)
        await asyncio.sleep(ANNOUNCE_EVERY.total_seconds())
