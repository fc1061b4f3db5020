"""Periodic work on pools: fills lists, marks used items, ends leases, gathers entries."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta

from feedmill.engine.run_periodically import run_periodically
from feedmill.errors import InfrastructureError
from feedmill.model.pool import Guarantee, PoolFailure, PoolKind
from feedmill.pools.fill import Filler
from feedmill.pools.gather import Gatherer
from feedmill.pools.group_cache import PoolGroupCache
from feedmill.pools.lease_items import end_expired_leases
from feedmill.pools.pool import Pool
from feedmill.pools.pool_tools import PoolTools

MAINTAIN_EVERY = timedelta(seconds=5)
GATHER_EVERY = timedelta(minutes=1)
POOLS_AT_ONCE = 8


@dataclass(slots=True)
class PoolMaintainer:
    """Maintains all pools. Several may run: each list is filled by one at a time."""

    tools: PoolTools
    group_cache: PoolGroupCache
    gatherer: Gatherer
    every: timedelta = MAINTAIN_EVERY
    filler: Filler | None = field(init=False)
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(POOLS_AT_ONCE))

    def __post_init__(self) -> None:
        self.filler = Filler(self.tools, self.tools.lists) if self.tools.lists else None

    async def run(self) -> None:
        """Maintains all pools now and then every few seconds; cancel it to stop."""
        async with asyncio.TaskGroup() as loops:
            loops.create_task(run_periodically("gather_pool_items", self.gather, GATHER_EVERY))
            loops.create_task(run_periodically("fill_pools", self.maintain_pools, self.every))

    async def run_once(self) -> None:
        """Does all maintenance once."""
        await self.gather()
        await self.maintain_pools()

    async def gather(self) -> None:
        """Adds entries to pools that their refresh did not add."""
        await self.gatherer.catch_up(self.tools.clock())

    async def maintain_pools(self) -> None:
        """Maintains all pools concurrently."""
        pools = [Pool(group, kind) for group in await self.group_cache.read() for kind in PoolKind]
        outcomes = await asyncio.gather(*(self._maintain_pool(pool) for pool in pools), return_exceptions=True)
        for pool, outcome in zip(pools, outcomes, strict=True):
            if isinstance(outcome, InfrastructureError):
                self.tools.failures[pool.key] = PoolFailure(self.tools.clock(), outcome.message)
            elif isinstance(outcome, BaseException):
                raise outcome
        failures = [outcome for outcome in outcomes if isinstance(outcome, InfrastructureError)]
        if failures:
            raise failures[0]

    async def _maintain_pool(self, pool: Pool) -> None:
        async with self._slots:
            if pool.options.guarantee is Guarantee.LEASE:
                await end_expired_leases(self.tools, pool)
            if (filler := self.filler) is not None:
                await filler.lists.health.call_service(lambda: _maintain_list(filler, pool))


async def _maintain_list(filler: Filler, pool: Pool) -> None:
    await filler.settle_reported(pool)
    if pool.options.guarantee is Guarantee.LEASE:
        await filler.drain(pool)  # items queued before the pool changed its guarantee
    elif not pool.group.paused:
        await filler.fill(pool)
