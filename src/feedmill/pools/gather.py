"""Puts entries into pools: new ones in the batch that stores them, others by scanning stored entries.

The scan finds entries stored before the group was created, by a process that did not know the group yet, or by a
restore; and entries that a user labelled.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from feedmill.model.feed import Claim, Feed
from feedmill.model.pool import PoolGroup, PoolKind
from feedmill.model.refresh import NewEntry, RefreshDecision, Updated
from feedmill.pools.group_cache import PoolGroupCache
from feedmill.pools.rules import PoolCandidate, choose_pools
from feedmill.store.database import Database, Step
from feedmill.store.pools.gather_entries import (
    StoredCandidate,
    add_stored_entries,
    candidates_after,
    labelled_candidates_after,
    newest_entry_id,
    steps_to_add_new_entries,
)
from feedmill.store.pools.groups import advance_gathered, gathered_up_to
from feedmill.threads import run_in_thread_if_large

# Ids are assigned before commit: the last ones are scanned again, in case an entry was committed late.
LOOK_BACK = 2000


@dataclass(slots=True)
class Gatherer:
    db: Database
    known: PoolGroupCache
    _looked_at: int = -1

    async def pool_writes(self, claim: Claim, decision: RefreshDecision, /) -> Sequence[Step]:
        """The steps that add the new entries of a refresh to their pools; none if there is no group."""
        if not isinstance(decision, Updated) or not decision.changes.new or claim.feed.is_private:
            return ()
        groups = await self.known.current()
        if not groups:
            return ()
        entries = [_new(claim.feed, decision, entry) for entry in decision.changes.new]
        found = await run_in_thread_if_large(
            sum(len(entry.html or "") for entry in entries), choose_pools, groups, entries
        )
        guids = {pool: [str(entry.key) for entry in entries] for pool, entries in found.items()}
        return steps_to_add_new_entries(claim.feed.id, guids, decision.visit.at)

    async def catch_up(self, now: datetime) -> int:
        """Scans the entries that were not scanned for the current groups; returns how many it scanned."""
        groups = await self.known.read()
        newest = await newest_entry_id(self.db) if groups else 0
        begun = await gathered_up_to(self.db) if groups else 0
        looked = 0
        if newest and (begun == 0 or newest != self._looked_at):
            looked = await self._look_through([group for group in groups if not group.rule.labels], begun, now)
            self._looked_at = newest
        for group in groups:
            if group.rule.labels:
                looked += await self._look_at_labelled(group, now)
        return looked

    async def _look_through(self, groups: Sequence[PoolGroup], begun: int, now: datetime) -> int:
        looked, after, settled = 0, begun, begun
        while entries := await candidates_after(self.db, after):
            await self._join(groups, [_stored(entry) for entry in entries], now)
            looked, after = looked + len(entries), entries[-1].id
            if after - LOOK_BACK > settled:
                if not await advance_gathered(self.db, settled, after - LOOK_BACK):
                    return looked  # a group was added or changed: the next run starts again
                settled = after - LOOK_BACK
        # So that the very first entry is not scanned forever.
        await advance_gathered(self.db, settled, max(settled, 1, after - LOOK_BACK))
        return looked

    async def _look_at_labelled(self, group: PoolGroup, now: datetime) -> int:
        looked, after, names = 0, 0, group.rule.labels
        while entries := await labelled_candidates_after(self.db, group.id, names, after):
            await self._join([group], [_stored(entry, frozenset(names)) for entry in entries], now)
            looked, after = looked + len(entries), entries[-1].id
        return looked

    async def _join(self, groups: Sequence[PoolGroup], entries: Sequence[PoolCandidate], now: datetime) -> None:
        # In a thread: matching the words of a page of entries takes long.
        found = await asyncio.to_thread(choose_pools, groups, entries)
        ids: dict[tuple[int, PoolKind], list[int]] = {
            pool: [int(entry.key) for entry in some] for pool, some in found.items()
        }
        await add_stored_entries(self.db, ids, now)


def _new(feed: Feed, decision: Updated, entry: NewEntry) -> PoolCandidate:
    return PoolCandidate(
        key=entry.guid,
        feed_id=feed.id,
        folder=feed.folder,
        sort_at=entry.sort_at,
        language=entry.language or decision.facts.language,
        title=entry.title,
        html=entry.content_html or entry.summary,
    )


def _stored(entry: StoredCandidate, labels: frozenset[str] = frozenset()) -> PoolCandidate:
    return PoolCandidate(
        key=entry.id,
        feed_id=entry.feed_id,
        folder=entry.folder,
        sort_at=entry.sort_at,
        language=entry.language,
        title=entry.title,
        html=entry.html,
        labels=labels,
    )
