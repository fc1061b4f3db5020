"""The service that the API, the pages and the commands call for everything about pools."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from feedmill.coordination.pool_queues import fill_lock_name
from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.model.pool import (
    AddedTexts,
    Guarantee,
    LossPolicy,
    LostPoolItem,
    NewestPoolText,
    PoolAccess,
    PoolFailure,
    PoolGrant,
    PoolGroup,
    PoolItem,
    PoolItemDetails,
    PoolItemState,
    PoolKey,
    PoolKind,
    PoolLease,
    PoolOptions,
    PoolRight,
    PoolRule,
    PoolStatus,
    PoolText,
)
from feedmill.model.user import Actor, Caller, User
from feedmill.pools.claim_tokens import new_token, token_holder
from feedmill.pools.consumer import PoolConsumer
from feedmill.pools.errors import NoPoolLists, PoolEmpty, PoolFull, PoolPaused, WrongGuarantee
from feedmill.pools.gather import Gatherer
from feedmill.pools.group_cache import PoolGroupCache, unknown_group_error
from feedmill.pools.lease_consumer import LeaseConsumer
from feedmill.pools.lease_items import lease_items
from feedmill.pools.lost_items import (
    DEFAULT_LOST_ITEM_SEARCH,
    LostItemSearch,
    find_lost_items,
    mark_lost_items_used,
    release_lost_items,
)
from feedmill.pools.maintain import PoolMaintainer
from feedmill.pools.pool import MAX_ITEMS_AT_ONCE, Pool
from feedmill.pools.pool_tools import PoolTools
from feedmill.pools.pop import pop
from feedmill.pools.program_texts import MAX_WAITING_ITEMS
from feedmill.pools.source_tables import check_source_table, find_source_problem
from feedmill.store.pools.grants import grant_access, grants_of, pool_access, revoke_access
from feedmill.store.pools.groups import add_group, drop_group, save_group
from feedmill.store.pools.items import (
    ack_items,
    count_items,
    extend_items,
    items_in_state,
    nack_items,
    pool_of_item,
    read_item_sources,
    requeue_items,
)
from feedmill.store.pools.lists import read_list_record
from feedmill.store.pools.texts import add_texts, has_more_available, newest_text
from feedmill.store.pools.usage_rate import used_by_minute
from feedmill.store.users.users import user_of_name

# No user: the command line on the server.
OPERATOR = Actor()
COMMAND_OF_GUARANTEE = {Guarantee.AT_MOST_ONCE: "pop", Guarantee.LEASE: "lease"}


@dataclass(slots=True)
class PoolService:
    """All operations on pools. A group is identified by its name or id."""

    tools: PoolTools
    group_cache: PoolGroupCache = field(init=False)
    gatherer: Gatherer = field(init=False)
    maintainer: PoolMaintainer = field(init=False)

    def __post_init__(self) -> None:
        self.group_cache = PoolGroupCache(self.tools.db)
        self.gatherer = Gatherer(self.tools.db, self.group_cache)
        self.maintainer = PoolMaintainer(self.tools, self.group_cache, self.gatherer)

    # --- groups -------------------------------------------------------------------------------------------

    async def groups(self) -> Sequence[PoolGroup]:
        return await self.group_cache.read()

    async def group(self, name: str | int) -> PoolGroup:
        """The group as it is now; raises `UnknownGroup`."""
        await self.group_cache.read()
        return await self.group_cache.named(name)

    async def groups_for(self, who: Caller, *rights: PoolRight) -> list[PoolGroup]:
        """The groups that the caller may take from, or has one of these rights for; others are hidden from them."""
        access = [await self.access_of(who, right) for right in rights or (PoolRight.TAKE,)]
        return [group for group in await self.groups() if any(each.allows(group.id) for each in access)]

    async def group_for(self, who: Caller, name: str | int, right: PoolRight = PoolRight.TAKE) -> PoolGroup:
        """The group, if the caller has the right for it; otherwise raises `UnknownGroup`, as for a missing group."""
        group = await self.group_cache.named(name)
        if not (await self.access_of(who, right)).allows(group.id):
            raise unknown_group_error(name)
        return group

    # --- rights -------------------------------------------------------------------------------------------

    async def access_of(self, who: Caller, right: PoolRight = PoolRight.TAKE) -> PoolAccess:
        """The groups that the caller has the right for."""
        return await pool_access(self.tools.db, who, right)

    async def grants(self, group: PoolGroup) -> list[PoolGrant]:
        """Who may take from the group or fill it, besides admins, by name."""
        return await grants_of(self.tools.db, group.id)

    async def grant(
        self, group: PoolGroup, user: User, right: PoolRight = PoolRight.TAKE, *, by: Actor = OPERATOR
    ) -> None:
        """Lets the user take from the group, or fill it. Granting twice is harmless."""
        await grant_access(self.tools.db, group, user, by, self.tools.clock(), right)

    async def revoke(
        self, group: PoolGroup, user_id: int, right: PoolRight = PoolRight.TAKE, *, by: Actor = OPERATOR
    ) -> PoolGrant | None:
        """Withdraws that right at once, also from the user's API keys; None when the user did not have it."""
        return await revoke_access(self.tools.db, group, user_id, by, self.tools.clock(), right)

    # --- changing groups ----------------------------------------------------------------------------------

    async def create(
        self,
        name: str,
        rule: PoolRule,
        titles: PoolOptions | None = None,
        contents: PoolOptions | None = None,
        *,
        loss: LossPolicy | None = None,
        by: Actor = OPERATOR,
    ) -> PoolGroup:
        """Creates a group; existing entries join it within a minute. Raises `GroupExists`."""
        await self._check_labels(rule)
        options = titles or PoolOptions(), contents or PoolOptions()
        await self._check_source_tables(PoolGroup(0, name, rule, self.tools.clock(), *options))
        group = await add_group(self.tools.db, name, rule, *options, self.tools.clock(), by, loss)
        await self.group_cache.read()
        return group

    async def change(self, group_name: str | int, /, *, by: Actor = OPERATOR, **changes: Any) -> PoolGroup:
        """Changes `name`, `rule`, `titles`, `contents`, `loss` or `paused` of a group. Its items stay."""
        before = await self.group(group_name)
        group = replace(before, **changes)
        if group.rule != before.rule:
            await self._check_labels(group.rule)
        await self._check_source_tables(group, before)
        await save_group(self.tools.db, group, self.tools.clock(), by)
        await self.group_cache.read()
        return group

    async def delete(self, name: str | int, *, by: Actor = OPERATOR) -> None:
        """Deletes the group with all its items, also those in the lists."""
        group = await self.group(name)
        await drop_group(self.tools.db, group, self.tools.clock(), by)
        await self.group_cache.read()
        if self.tools.lists is not None:
            for kind in PoolKind:
                await self.tools.lists.queues.drop(Pool(group, kind).list_name)

    # --- texts of other programs --------------------------------------------------------------------------

    async def add_texts(self, name: str | int, kind: PoolKind, texts: Sequence[PoolText], sender: str) -> AddedTexts:
        """Puts checked texts into a pool, in their order; a known id is kept as it is. Raises `PoolFull`."""
        pool = await self._any_pool(name, kind)
        if await has_more_available(self.tools.db, pool.key, MAX_WAITING_ITEMS):
            raise PoolFull(Message("error.pool_full", pool=str(pool), most=MAX_WAITING_ITEMS))
        unique: dict[str, PoolText] = {}
        for text in texts:
            unique.setdefault(text.external_id, text)
        token = new_token(sender)
        added = await add_texts(self.tools.db, pool.key, list(unique.values()), token, self.tools.clock())
        return AddedTexts(added, len(texts) - added)

    async def newest_text(self, name: str | int, kind: PoolKind) -> NewestPoolText | None:
        """By whom and when a text was last put into the pool."""
        found = await newest_text(self.tools.db, (await self._any_pool(name, kind)).key)
        return replace(found, source=token_holder(found.source) or "") if found else None

    # --- at most once -------------------------------------------------------------------------------------

    async def pop(self, name: str | int, kind: PoolKind, most: int = 1, who: str = "") -> list[PoolItem]:
        """Pops up to `most` items, which nobody else gets; raises `PoolEmpty`."""
        pool = await self._pool(name, kind, Guarantee.AT_MOST_ONCE)
        return _not_empty(pool, await pop(self.tools, pool, min(most, MAX_ITEMS_AT_ONCE), who))

    async def lost(
        self, name: str | int, kind: PoolKind, search: LostItemSearch = DEFAULT_LOST_ITEM_SEARCH
    ) -> list[LostPoolItem]:
        """The items that are held back, or queued and in no list."""
        return await find_lost_items(self.tools, await self._any_pool(name, kind), search)

    async def release_lost(
        self, name: str | int, kind: PoolKind, search: LostItemSearch = DEFAULT_LOST_ITEM_SEARCH
    ) -> int:
        """Makes lost items available again, at the risk that some were handed out."""
        return await release_lost_items(self.tools, await self._any_pool(name, kind), search)

    async def settle_lost(
        self, name: str | int, kind: PoolKind, search: LostItemSearch = DEFAULT_LOST_ITEM_SEARCH
    ) -> int:
        """Marks lost items as used."""
        return await mark_lost_items_used(self.tools, await self._any_pool(name, kind), search)

    async def fill(self, name: str | int) -> int:
        """Gathers entries and rows now and fills the group's lists; returns the number of items added."""
        await self.maintainer.gather()
        await self.maintainer.read_source_tables()
        group, filler = await self.group(name), self.maintainer.filler
        if filler is None or group.paused:
            return 0
        pools = [Pool(group, kind) for kind in PoolKind if group.options(kind).guarantee is Guarantee.AT_MOST_ONCE]
        return sum([await filler.top_up(pool) for pool in pools])

    async def drain(self, name: str | int, kind: PoolKind) -> int:
        """Makes the items of the list available again."""
        if self.maintainer.filler is None:
            raise NoPoolLists(Message("error.no_pool_lists"))
        return await self.maintainer.filler.drain(await self._any_pool(name, kind))

    # --- at least once ------------------------------------------------------------------------------------

    async def lease(
        self, name: str | int, kind: PoolKind, most: int = 1, who: str = "", length: timedelta | None = None
    ) -> PoolLease:
        """Leases up to `most` items; raises `PoolEmpty`."""
        pool = await self._pool(name, kind, Guarantee.LEASE)
        leased = await lease_items(self.tools, pool, min(most, MAX_ITEMS_AT_ONCE), who, length)
        _not_empty(pool, leased.items)
        return leased

    async def ack(self, name: str | int, kind: PoolKind, token: str, ids: Sequence[int]) -> int:
        """Acknowledges leased items; returns how many were still leased with that token."""
        pool = await self._any_pool(name, kind)
        return await ack_items(self.tools.db, pool.key, ids, token, self.tools.clock())

    async def nack(self, name: str | int, kind: PoolKind, token: str, ids: Sequence[int]) -> int:
        """Returns leased items to the head of the pool, or marks them dead after their last attempt."""
        pool = await self._any_pool(name, kind)
        return await nack_items(self.tools.db, pool.key, ids, token, pool.options.most_attempts, self.tools.clock())

    async def extend(self, name: str | int, kind: PoolKind, token: str, ids: Sequence[int], length: timedelta) -> int:
        """Extends leases to `length` from now; returns how many were still leased with that token."""
        pool = await self._any_pool(name, kind)
        return await extend_items(self.tools.db, pool.key, ids, token, self.tools.clock() + length)

    # --- both ---------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def consumer(
        self, name: str | int, kind: PoolKind = PoolKind.TITLES, who: str = "", *, wait: bool = True
    ) -> AsyncIterator[PoolConsumer | LeaseConsumer]:
        """Iterates over items with the pool's guarantee; with `wait`, waits for more when the pool is empty."""
        pool = _not_paused(await self._any_pool(name, kind))
        consuming = LeaseConsumer if pool.options.guarantee is Guarantee.LEASE else PoolConsumer
        async with consuming(self.tools, pool, who, wait=wait) as consumer:
            yield consumer

    async def status(self, name: str | int, kind: PoolKind) -> PoolStatus:
        pool, lists = await self._any_pool(name, kind), self.tools.lists
        counts = await count_items(self.tools.db, pool.key)
        problem = await find_source_problem(self.tools, pool)
        if lists is None:
            return PoolStatus(counts, source_problem=problem)
        record = await read_list_record(self.tools.db, pool.key)
        observed = await lists.health.call_service(lambda: lists.queues.observe(pool.list_name))
        holder = await lists.health.call_service(lambda: lists.locks.holder(fill_lock_name(pool.list_name)))
        is_lost = observed is not None and counts.queued > 0 and observed.life != record.life
        length = observed.length if observed else None
        return PoolStatus(counts, length, holder, is_lost, record.rpop_seen_at, problem)

    async def used_lately(self, name: str | int, kind: PoolKind, since: datetime) -> dict[datetime, int]:
        """How many items were used in each minute since then."""
        return await used_by_minute(self.tools.db, (await self._any_pool(name, kind)).key, since)

    def fallbacks(self, group_id: int, kind: PoolKind) -> int:
        """How many items this process took from the database because the list had none, since it started."""
        return self.tools.fallbacks[PoolKey(group_id, kind)]

    def duplicates(self, group_id: int, kind: PoolKind) -> int:
        """How many items this process found in the list that were used before, and did not hand out again."""
        return self.tools.duplicates[PoolKey(group_id, kind)]

    def last_failure(self, group_id: int, kind: PoolKind) -> PoolFailure | None:
        """The last failure in this process with the pool, or with all lists."""
        shared = self.tools.lists.health.last_error if self.tools.lists else None
        seen = [self.tools.failures.get(PoolKey(group_id, kind)), PoolFailure(*shared) if shared else None]
        return max((each for each in seen if each), key=lambda each: each.at, default=None)

    async def requeue(
        self,
        name: str | int,
        kind: PoolKind,
        state: PoolItemState = PoolItemState.DEAD,
        ids: Sequence[int] | None = None,
    ) -> int:
        """Makes dead or used items available again, all or those among `ids`."""
        pool = await self._any_pool(name, kind)
        return await requeue_items(self.tools.db, pool.key, state, self.tools.clock(), ids)

    async def items(
        self, name: str | int, kind: PoolKind, state: PoolItemState, most: int = 100
    ) -> list[PoolItemDetails]:
        """Items in one state, the last changed first."""
        return await items_in_state(self.tools.db, (await self._any_pool(name, kind)).key, state, most)

    async def item_for(self, who: Caller, item_id: int) -> PoolItem | None:
        """One item with its current text, for items that are in a list as a reference.

        None if it does not exist, or is in a group that the caller may not take from.
        """
        key = await pool_of_item(self.tools.db, item_id)
        if key is None or not (await self.access_of(who)).allows(key.group_id):
            return None
        options = (await self.group_cache.named(key.group_id)).options(key.kind)
        sources = await read_item_sources(self.tools.db, key.kind, [item_id])
        items = await self.tools.texts.items(key.kind, options, sources)
        return items[0] if items else None

    async def _check_labels(self, rule: PoolRule) -> None:
        """Raises `BadInput` unless a rule by label names an existing account: only its labels may be used."""
        if rule.labels and rule.labels_of is None:
            raise BadInput(Message("error.label_rule_account"), field="rule.labels_of")
        if rule.labels_of is not None and await user_of_name(self.tools.db, rule.labels_of) is None:
            raise BadInput(Message("error.unknown_account", name=rule.labels_of), field="rule.labels_of")

    async def _check_source_tables(self, group: PoolGroup, before: PoolGroup | None = None) -> None:
        """Raises `BadInput` for a source table that is new to the group and can't be read."""
        for pool in (Pool(group, kind) for kind in PoolKind):
            name = pool.options.source_table
            if not name or (before and before.options(pool.kind).source_table == name):
                continue
            if problem := await check_source_table(self.tools, pool):
                raise BadInput(problem, field=f"{pool.kind}.source_table")

    async def _any_pool(self, name: str | int, kind: PoolKind) -> Pool:
        return Pool(await self.group_cache.named(name), kind)

    async def _pool(self, name: str | int, kind: PoolKind, guarantee: Guarantee) -> Pool:
        pool = _not_paused(await self._any_pool(name, kind))
        offered = pool.options.guarantee
        if offered is not guarantee:
            raise WrongGuarantee(
                Message(
                    "error.wrong_guarantee", pool=str(pool), guarantee=offered, command=COMMAND_OF_GUARANTEE[offered]
                )
            )
        return pool


def _not_paused(pool: Pool) -> Pool:
    if pool.group.paused:
        raise PoolPaused(Message("error.pool_paused", group=pool.group.name))
    return pool


def _not_empty(pool: Pool, items: Sequence[PoolItem]) -> list[PoolItem]:
    if not items:
        raise PoolEmpty(Message("error.pool_empty", pool=str(pool)))
    return list(items)
