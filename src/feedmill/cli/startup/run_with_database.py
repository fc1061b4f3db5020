"""Runs a command's coroutine with the database alone, which starts faster than the whole app."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from feedmill.adapters.database import open_migrated_database
from feedmill.settings import Settings
from feedmill.store.database import Database

Result = TypeVar("Result")


def run_with_database(settings: Settings, work: Callable[[Database], Awaitable[Result]]) -> Result:
    """Opens the database, runs `work` with it and closes it."""

    async def with_database() -> Result:
        async with open_migrated_database(settings) as db:
            return await work(db)

    return asyncio.run(with_database())
