"""Stops this process when a newer Feedmill migrates the database that it uses."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta

from feedmill.dependency_outages import DEPENDENCY_OUTAGES
from feedmill.errors import DatabaseError
from feedmill.lazy_loggers import get_logger
from feedmill.pools.claim_tokens import new_token
from feedmill.run.run_in_background import run_in_background
from feedmill.store.database import Database
from feedmill.store.migrations import NewerSchema, check_not_newer
from feedmill.store.migrations.running_processes import RENEW_EVERY, add_process, remove_process, renew_process

log = get_logger(__name__)

CHECK_EVERY = timedelta(seconds=10)


def stop_this_process() -> None:
    """Stops as SIGTERM does: running jobs get their time, claims are released."""
    signal.raise_signal(signal.SIGTERM)


@asynccontextmanager
async def watch_schema(db: Database, stop: Callable[[], None] = stop_this_process) -> AsyncIterator[None]:
    """Registers the process for the block. If the database gets newer, calls `stop`, and raises `NewerSchema` after it.

    A migration waits for the end of the block.
    """
    newer: list[NewerSchema] = []
    name = new_token("")
    await add_process(db, name, datetime.now(UTC))
    try:
        # Between its own migration and its row another process may have begun the next one.
        await check_not_newer(db)
        async with run_in_background(_watch(db, newer, stop), _keep_renewing(db, name)):
            yield
    finally:
        with suppress(DatabaseError):
            await remove_process(db, name)
    if newer:
        raise newer[0]


async def _watch(db: Database, newer: list[NewerSchema], stop: Callable[[], None]) -> None:
    while not newer:
        await asyncio.sleep(CHECK_EVERY.total_seconds())
        try:
            await check_not_newer(db)
            DEPENDENCY_OUTAGES.worked("check_schema")
        except NewerSchema as error:
            log.error("database_is_newer", reason=str(error))
            newer.append(error)
            stop()
        except DatabaseError as error:
            DEPENDENCY_OUTAGES.failed("check_schema", error)


async def _keep_renewing(db: Database, name: str) -> None:
    """Renews the row of this process; a later one does it if the database does not answer."""
    while True:
        await asyncio.sleep(RENEW_EVERY.total_seconds())
        with suppress(DatabaseError):
            await renew_process(db, name, datetime.now(UTC))
