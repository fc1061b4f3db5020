"""All that can be asked of pools: commands, HTTP and programs call this and nothing else."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from feedmill.coordination.queues import filling_lock
from feedmill.model.pool import (
    Group,
    Guarantee,
    Item,
    Kind,
    Leased,
    LostItem,
    PoolKey,
    PoolOptions,
    PoolStatus,
    Rule,
    State,
    Trouble,
)
from feedmill.pools.consumer import Consumer
from feedmill.pools.gather import Gatherer
from feedmill.pools.groups import KnownGroups
from feedmill.pools.keep import Keeper
from feedmill.pools.lease_consumer import LeaseConsumer
from feedmill.pools.leases import lend
from feedmill.pools.lost import DEFAULT_SEARCH, Search, find_lost, release_lost, settle_lost
from feedmill.pools.pop import pop
from feedmill.pools.settle import Settler
from feedmill.pools.tools import MOST_AT_ONCE, NothingToAsk, Pool, PoolEmpty, PoolPaused, PoolTools, WrongGuarantee
from feedmill.store.database import Row
from feedmill.store.pool_groups import add_group, drop_group, save_group
from feedmill.store.pool_rates import used_by_minute
from feedmill.store.pools import (
    ack_items,
    count_items,
    extend_items,
    items_in,
    nack_items,
    pool_of_item,
    read_texts,
    requeue_items,
)

NAMES = {Guarantee.AT_MOST_ONCE: "pop", Guarantee.LEASE: "lease"}


@dataclass(slots=True)
class Pools:
    """Groups are named by their name or id."""

    tools: PoolTools
    known: KnownGroups = field(init=False)
    gatherer: Gatherer = field(init=False)
    keeper: Keeper = field(init=False)
    _settler: Settler = field(init=False)

    def __post_init__(self) -> None:
        self.known = KnownGroups(self.tools.db)
        self.gatherer = Gatherer(self.tools.db, self.known)
        self.keeper = Keeper(self.tools, self.known, self.gatherer)
        self._settler = Settler(self.tools.db, "", self.tools.clock)

    # --- groups -------------------------------------------------------------------------------------------

    async def groups(self) -> Sequence[Group]:
        return await self.known.read()

    async def group(self, name: str | int) -> Group:
        """The group as it is now; raises `UnknownGroup`."""
        await self.known.read()
        return await self.known.named(name)

    async def create(
        self, name: str, rule: Rule, titles: PoolOptions | None = None, contents: PoolOptions | None = None
    ) -> Group:
        """Makes a group; the entries there are join it within the minute. Raises `GroupExists`."""
        options = titles or PoolOptions(), contents or PoolOptions()
        group = await add_group(self.tools.db, name, rule, *options, self.tools.clock())
        await self.known.read()
        return group

    async def change(self, group_name: str | int, /, **changes: Any) -> Group:
        """The group with other `name`, `rule`, `titles`, `contents` or `paused`. Items that it has stay."""
        group = replace(await self.group(group_name), **changes)
        await save_group(self.tools.db, group)
        await self.known.read()
        return group

    async def delete(self, name: str | int) -> None:
        """Takes the group away with all its items, also those in the lists."""
        group = await self.group(name)
        await drop_group(self.tools.db, group.id)
        await self.known.read()
        if self.tools.lists is not None:
            for kind in Kind:
                await self.tools.lists.queues.drop(Pool(group, kind).list_name)

    # --- at most once -------------------------------------------------------------------------------------

    async def pop(self, name: str | int, kind: Kind, most: int = 1, who: str = "") -> list[Item]:
        """Up to `most` items that nobody else ever gets; raises `PoolEmpty`."""
        pool = await self._pool(name, kind, Guarantee.AT_MOST_ONCE)
        if len(self._settler):
            await self._settler.flush()
        return _some(pool, await pop(self.tools, pool, min(most, MOST_AT_ONCE), who, self._settler))

    async def lost(self, name: str | int, kind: Kind, search: Search = DEFAULT_SEARCH) -> list[LostItem]:
        """What is queued and in no list."""
        return await find_lost(self.tools, await self._any_pool(name, kind), search)

    async def release_lost(self, name: str | int, kind: Kind, search: Search = DEFAULT_SEARCH) -> int:
        """Makes lost items available again, at the risk that some were handed out."""
        return await release_lost(self.tools, await self._any_pool(name, kind), search)

    async def settle_lost(self, name: str | int, kind: Kind, search: Search = DEFAULT_SEARCH) -> int:
        """Marks lost items as used."""
        return await settle_lost(self.tools, await self._any_pool(name, kind), search)

    async def fill(self, name: str | int) -> int:
        """Has entries join now that no refresh put in, and fills the group's lists up; how many items were added."""
        await self.keeper.gather()
        group, filler = await self.group(name), self.keeper.filler
        if filler is None or group.paused:
            return 0
        pools = [Pool(group, kind) for kind in Kind if group.options(kind).guarantee is Guarantee.AT_MOST_ONCE]
        return sum([await filler.top_up(pool) for pool in pools])

    async def drain(self, name: str | int, kind: Kind) -> int:
        """Makes what is in the list available again."""
        if self.keeper.filler is None:
            raise NothingToAsk("there are no lists without Redis (setting redis)")
        return await self.keeper.filler.drain(await self._any_pool(name, kind))

    # --- at least once ------------------------------------------------------------------------------------

    async def lease(
        self, name: str | int, kind: Kind, most: int = 1, who: str = "", length: timedelta | None = None
    ) -> Leased:
        """Up to `most` items for some time; raises `PoolEmpty`."""
        pool = await self._pool(name, kind, Guarantee.LEASE)
        leased = await lend(self.tools, pool, min(most, MOST_AT_ONCE), who, length)
        _some(pool, leased.items)
        return leased

    async def ack(self, token: str, ids: Sequence[int]) -> int:
        """Settles leased items; how many were still leased with that token."""
        return await ack_items(self.tools.db, ids, token, self.tools.clock())

    async def nack(self, name: str | int, kind: Kind, token: str, ids: Sequence[int]) -> int:
        """Gives leased items back to the head of the pool, or sets them aside after their last attempt."""
        most = (await self._any_pool(name, kind)).options.most_attempts
        return await nack_items(self.tools.db, ids, token, most, self.tools.clock())

    async def extend(self, token: str, ids: Sequence[int], length: timedelta) -> int:
        """Makes leases last `length` from now; how many were still held with that token."""
        return await extend_items(self.tools.db, ids, token, self.tools.clock() + length)

    # --- both ---------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def consumer(
        self, name: str | int, kind: Kind = Kind.TITLES, who: str = "", *, wait: bool = True
    ) -> AsyncIterator[Consumer | LeaseConsumer]:
        """Items one after the other, by the pool's own guarantee; `wait` for more when it is empty."""
        pool = _awake(await self._any_pool(name, kind))
        consuming = LeaseConsumer if pool.options.guarantee is Guarantee.LEASE else Consumer
        async with consuming(self.tools, pool, who, wait=wait) as consumer:
            yield consumer

    async def status(self, name: str | int, kind: Kind) -> PoolStatus:
        pool, lists = await self._any_pool(name, kind), self.tools.lists
        counts = await count_items(self.tools.db, pool.key)
        if lists is None:
            return PoolStatus(counts, None, None)
        length = await lists.health.ask(lambda: lists.queues.length(pool.list_name))
        holder = await lists.health.ask(lambda: lists.locks.holder(filling_lock(pool.list_name)))
        return PoolStatus(counts, length, holder)

    async def used_lately(self, name: str | int, kind: Kind, since: datetime) -> dict[datetime, int]:
        """How many items were used in each minute since then."""
        return await used_by_minute(self.tools.db, (await self._any_pool(name, kind)).key, since)

    def fallbacks(self, group_id: int, kind: Kind) -> int:
        """How many items this process took from the database because the list had none, since it started."""
        return self.tools.fallbacks[PoolKey(group_id, kind)]

    def doubles(self, group_id: int, kind: Kind) -> int:
        """How many items this process found in the list that were used before, and did not hand out again."""
        return self.tools.doubles[PoolKey(group_id, kind)]

    def trouble(self, group_id: int, kind: Kind) -> Trouble | None:
        """What went wrong last in this process with the pool, or with all lists."""
        shared = self.tools.lists.health.last_error if self.tools.lists else None
        seen = [self.tools.troubles.get(PoolKey(group_id, kind)), Trouble(*shared) if shared else None]
        return max((each for each in seen if each), key=lambda each: each.at, default=None)

    async def requeue(
        self, name: str | int, kind: Kind, state: State = State.DEAD, ids: Sequence[int] | None = None
    ) -> int:
        """Makes dead or used items available again, all or those among `ids`."""
        pool = await self._any_pool(name, kind)
        return await requeue_items(self.tools.db, pool.key, state, self.tools.clock(), ids)

    async def items(self, name: str | int, kind: Kind, state: State, most: int = 100) -> list[Row]:
        """Items of one state, the last changed first."""
        return await items_in(self.tools.db, (await self._any_pool(name, kind)).key, state, most)

    async def read_item(self, item_id: int) -> Item | None:
        """One item with its text as it is now, for those that stand in a list by reference; None if it is gone."""
        key = await pool_of_item(self.tools.db, item_id)
        if key is None:
            return None
        options = (await self.known.named(key.group_id)).options(key.kind)
        rows = await read_texts(self.tools.db, key.kind, [item_id])
        return self.tools.texts.item(key.kind, options, rows[0]) if rows else None

    async def close(self) -> None:
        """Writes the marks that still wait; raises `Unsettled` if that can't be done."""
        await self._settler.close()

    async def _any_pool(self, name: str | int, kind: Kind) -> Pool:
        return Pool(await self.known.named(name), kind)

    async def _pool(self, name: str | int, kind: Kind, guarantee: Guarantee) -> Pool:
        pool = _awake(await self._any_pool(name, kind))
        offered = pool.options.guarantee
        if offered is not guarantee:
            raise WrongGuarantee(f"the pool {pool} is {offered}: use {NAMES[offered]}")
        return pool


def _awake(pool: Pool) -> Pool:
    if pool.group.paused:
        raise PoolPaused(f"pool_paused: the group {pool.group.name} is paused")
    return pool


def _some(pool: Pool, items: Sequence[Item]) -> list[Item]:
    if not items:
        raise PoolEmpty(f"pool_empty: the pool {pool} has nothing to hand out now")
    return list(items)
