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
from feedmill.run_in_thread import run_in_thread_if_large
from feedmill.store.database import Database, Step
from feedmill.store.pools.gather_entries import (
    StoredCandidate,
    add_stored_entries,
    candidates_after,
    labelled_candidates_after,
    newest_entry_id,
    steps_to_add_new_entries,
)
from feedmill.store.pools.gather_progress import advance_gathered, gathered_up_to

# Ids are assigned before commit: the last ones are scanned again, in case an entry was committed late.
RESCAN = 2000


@dataclass(slots=True)
class Gatherer:
    db: Database
    group_cache: PoolGroupCache
    _scanned_up_to: int = -1

    async def pool_writes(self, claim: Claim, decision: RefreshDecision, /) -> Sequence[Step]:
        """The steps that add the new entries of a refresh to their pools; none if there is no group."""
        if not isinstance(decision, Updated) or not decision.changes.new or claim.feed.is_private:
            return ()
        groups = _of_entries(await self.group_cache.current())
        if not groups:
            return ()
        entries = [_new_candidate(claim.feed, decision, entry) for entry in decision.changes.new]
        found = await run_in_thread_if_large(
            sum(len(entry.html or "") for entry in entries), choose_pools, groups, entries
        )
        guids = {pool: [str(entry.key) for entry in entries] for pool, entries in found.items()}
        return steps_to_add_new_entries(claim.feed.id, guids, decision.stats.at)

    async def catch_up(self, now: datetime) -> int:
        """Scans the entries that were not scanned for the current groups; returns how many it scanned."""
        groups = _of_entries(await self.group_cache.read())
        newest = await newest_entry_id(self.db) if groups else 0
        begun = await gathered_up_to(self.db) if groups else 0
        scanned = 0
        if newest and (begun == 0 or newest != self._scanned_up_to):
            scanned = await self._scan([group for group in groups if not group.rule.labels], begun, now)
            self._scanned_up_to = newest
        for group in groups:
            if group.rule.labels:
                scanned += await self._scan_labelled(group, now)
        return scanned

    async def _scan(self, groups: Sequence[PoolGroup], begun: int, now: datetime) -> int:
        scanned, after, recorded = 0, begun, begun
        while entries := await candidates_after(self.db, after):
            await self._add_matching(groups, [_stored_candidate(entry) for entry in entries], now)
            scanned, after = scanned + len(entries), entries[-1].id
            if after - RESCAN > recorded:
                if not await advance_gathered(self.db, recorded, after - RESCAN):
                    return scanned  # a group was added or changed: the next run starts again
                recorded = after - RESCAN
        # So that the very first entry is not scanned forever.
        await advance_gathered(self.db, recorded, max(recorded, 1, after - RESCAN))
        return scanned

    async def _scan_labelled(self, group: PoolGroup, now: datetime) -> int:
        scanned, after, names = 0, 0, group.rule.labels
        while entries := await labelled_candidates_after(self.db, group.id, names, after):
            await self._add_matching([group], [_stored_candidate(entry, frozenset(names)) for entry in entries], now)
            scanned, after = scanned + len(entries), entries[-1].id
        return scanned

    async def _add_matching(self, groups: Sequence[PoolGroup], entries: Sequence[PoolCandidate], now: datetime) -> None:
        # In a thread: matching the words of a page of entries takes long.
        found = await asyncio.to_thread(choose_pools, groups, entries)
        ids: dict[tuple[int, PoolKind], list[int]] = {
            pool: [int(entry.key) for entry in some] for pool, some in found.items()
        }
        await add_stored_entries(self.db, ids, now)


def _of_entries(groups: Sequence[PoolGroup]) -> list[PoolGroup]:
    """The groups that entries can join."""
    return [group for group in groups if not group.rule.no_entries]


def _new_candidate(feed: Feed, decision: Updated, entry: NewEntry) -> PoolCandidate:
    return PoolCandidate(
        key=entry.guid,
        feed_id=feed.id,
        folder=feed.folder,
        date=entry.date,
        language=entry.language or decision.metadata.language,
        title=entry.title,
        html=entry.content_html or entry.summary,
    )


def _stored_candidate(entry: StoredCandidate, labels: frozenset[str] = frozenset()) -> PoolCandidate:
    return PoolCandidate(
        key=entry.id,
        feed_id=entry.feed_id,
        folder=entry.folder,
        date=entry.date,
        language=entry.language,
        title=entry.title,
        html=entry.html,
        labels=labels,
    )
