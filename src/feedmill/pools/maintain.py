"""Periodic work on pools: fills lists, marks used items, ends leases, recovers what was lost, adds entries and rows."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta

from feedmill.engine.run_periodically import run_periodically
from feedmill.errors import DatabaseError, InfrastructureError
from feedmill.model.pool import Guarantee, OnLoss, PoolFailure, PoolKind
from feedmill.pools.audit_queued_items import QueuedItemAudit
from feedmill.pools.fill import Filler
from feedmill.pools.gather import Gatherer
from feedmill.pools.group_cache import PoolGroupCache
from feedmill.pools.lease_items import end_expired_leases
from feedmill.pools.lost_lists import watch_for_rpop
from feedmill.pools.pool import Pool
from feedmill.pools.pool_tools import PoolTools
from feedmill.pools.source_tables import TakeRows, read_source_table, take_late_rows, take_new_rows
from feedmill.store.pools.lost_items import hold_expired_items, release_held_items

MAINTAIN_EVERY = timedelta(seconds=5)
GATHER_EVERY = timedelta(minutes=1)
AUDIT_EVERY = timedelta(minutes=1)
POOLS_AT_ONCE = 8


@dataclass(slots=True)
class PoolMaintainer:
    """Maintains all pools. Several may run: each list is filled by one at a time."""

    tools: PoolTools
    group_cache: PoolGroupCache
    gatherer: Gatherer
    every: timedelta = MAINTAIN_EVERY
    audit_every: timedelta = AUDIT_EVERY
    filler: Filler | None = field(init=False)
    audit: QueuedItemAudit | None = field(init=False)
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(POOLS_AT_ONCE))

    def __post_init__(self) -> None:
        self.filler = Filler(self.tools, self.tools.lists) if self.tools.lists else None
        self.audit = QueuedItemAudit(self.tools, self.tools.lists) if self.tools.lists else None

    async def run(self) -> None:
        """Maintains all pools now and then every few seconds; cancel it to stop."""
        async with asyncio.TaskGroup() as loops:
            loops.create_task(run_periodically("gather_pool_items", self.gather, GATHER_EVERY))
            loops.create_task(run_periodically("fill_pools", self.maintain_pools, self.every))
            # On its own: reading a view may take long, and must not delay the lists.
            loops.create_task(run_periodically("read_source_tables", self.read_source_tables, self.every))
            loops.create_task(run_periodically("sweep_source_tables", self.sweep_source_tables, GATHER_EVERY))
            loops.create_task(run_periodically("audit_pools", self.audit_pools, self.audit_every))

    async def run_once(self) -> None:
        """Does all maintenance once."""
        await self.gather()
        await self.read_source_tables()
        await self.sweep_source_tables()
        await self.maintain_pools()
        await self.audit_pools()

    async def gather(self) -> None:
        """Adds entries to pools that their refresh did not add."""
        await self.gatherer.catch_up(self.tools.clock())

    async def read_source_tables(self) -> None:
        """Takes new rows of the source tables."""
        await self._read_source_tables(take_new_rows)

    async def sweep_source_tables(self) -> None:
        """Takes rows of the source tables that were offered late."""
        await self._read_source_tables(take_late_rows)

    async def maintain_pools(self) -> None:
        """Maintains all pools concurrently."""
        pools = await self._pools()
        outcomes = await asyncio.gather(*(self._maintain_pool(pool) for pool in pools), return_exceptions=True)
        for pool, outcome in zip(pools, outcomes, strict=True):
            if isinstance(outcome, InfrastructureError):
                self.tools.failures[pool.key] = PoolFailure(self.tools.clock(), outcome.message)
            elif isinstance(outcome, BaseException):
                raise outcome
        failures = [outcome for outcome in outcomes if isinstance(outcome, InfrastructureError)]
        if failures:
            raise failures[0]

    async def audit_pools(self) -> None:
        """Looks for items that are queued and in no list, pool by pool."""
        if (audit := self.audit) is not None:
            for pool in await self._pools():
                await audit.lists.health.call_service(lambda pool=pool: audit.audit(pool))  # type: ignore[misc]

    async def _pools(self) -> list[Pool]:
        return [Pool(group, kind) for group in await self.group_cache.read() for kind in PoolKind]

    async def _read_source_tables(self, take: TakeRows) -> None:
        """Pool by pool. One that fails does not stop the others: its view may take too long."""
        failures = list[DatabaseError]()
        for pool in await self._pools():
            try:
                await read_source_table(self.tools, pool, take)
            except DatabaseError as error:
                self.tools.failures[pool.key] = PoolFailure(self.tools.clock(), error.message)
                failures.append(error)
        if failures:
            raise failures[0]

    async def _maintain_pool(self, pool: Pool) -> None:
        async with self._slots:
            await _end_leases(self.tools, pool)
            if pool.group.loss.on_loss is OnLoss.RELEASE:
                now = self.tools.clock()
                await release_held_items(self.tools.db, pool.key, now - pool.group.loss.release_after, now)
            if (filler := self.filler) is not None:
                await filler.lists.health.call_service(lambda: _maintain_list(filler, pool))


async def _end_leases(tools: PoolTools, pool: Pool) -> None:
    """Ends expired leases. Without the guarantee `lease` they are those of consumers that were killed."""
    if pool.options.guarantee is Guarantee.LEASE:
        await end_expired_leases(tools, pool)
    else:
        await hold_expired_items(tools.db, pool.key, tools.clock())


async def _maintain_list(filler: Filler, pool: Pool) -> None:
    await watch_for_rpop(filler.tools, filler.lists, pool)
    await filler.settle_reported(pool)
    if pool.options.guarantee is Guarantee.LEASE:
        await filler.empty(pool)
    elif not pool.group.paused:
        await filler.fill(pool)
