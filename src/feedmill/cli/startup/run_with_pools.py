"""Runs a command's coroutine with the database and the pools alone, which starts faster than the whole app."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar

from feedmill.cli.startup.run_with_database import run_with_database
from feedmill.open_pools import open_pools
from feedmill.pools.service import PoolService
from feedmill.settings import Settings
from feedmill.store.database import Database

Result = TypeVar("Result")


class OpenedPools(NamedTuple):
    db: Database
    pools: PoolService


def run_with_pools(settings: Settings, work: Callable[[OpenedPools], Awaitable[Result]]) -> Result:
    """Opens the database and the pools, runs `work` with them and closes them."""

    async def with_pools(db: Database) -> Result:
        async with open_pools(settings, db) as pools:
            return await work(OpenedPools(db, pools))

    return run_with_database(settings, with_pools)
