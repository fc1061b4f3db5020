"""What a restore writes to: the store under a claim, or memory alone for `--dry-run`."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from feedmill.model.feed import Claim, Feed
from feedmill.model.refresh import KnownEntry
from feedmill.store.archive.record_restore import RestoreChanges, RevisionTimes, find_revision_times, record_restore
from feedmill.store.database import Database, Step
from feedmill.store.entries.known_entries import find_first_entry_time, find_known_entries
from feedmill.store.feeds.claims import claim_feeds, release_claims, renew_claims

# A body that changes nothing is not written, so the claim has to be renewed.
RENEW_EVERY = timedelta(seconds=60)
# A refresh takes seconds; the claim of one that was killed ends within three minutes.
MAX_WAIT = timedelta(minutes=4)
POLL_EVERY = timedelta(seconds=0.5)

KnownAndPurged = tuple[dict[str, KnownEntry], set[str]]


class RestoreTarget(Protocol):
    """The stored entries of one feed, as a restore reads and writes them."""

    @property
    def feed(self) -> Feed: ...

    async def find(self, guids: Sequence[str]) -> KnownAndPurged:
        """The stored entries of these guids, and the guids that were purged."""

    async def revision_times(self, ids: Sequence[int]) -> dict[int, RevisionTimes]:
        """By id when the present text of an entry came, and when it was last seen."""

    async def first_entry_at(self) -> datetime | None:
        """When the first stored entry of the feed was first seen."""

    async def write(self, changes: RestoreChanges, index_steps: Sequence[Step]) -> None:
        """Writes the changes of one body, and `index_steps` that list the body itself."""


@dataclass(slots=True)
class ClaimedTarget:
    """Writes to the store while the claim holds."""

    db: Database
    claim: Claim
    clock: Callable[[], datetime]
    _written_at: datetime = field(init=False)

    def __post_init__(self) -> None:
        self._written_at = self.clock()

    @property
    def feed(self) -> Feed:
        return self.claim.feed

    async def find(self, guids: Sequence[str]) -> KnownAndPurged:
        return await find_known_entries(self.db, self.feed.id, guids)

    async def revision_times(self, ids: Sequence[int]) -> dict[int, RevisionTimes]:
        return await find_revision_times(self.db, ids)

    async def first_entry_at(self) -> datetime | None:
        return await find_first_entry_time(self.db, self.feed.id)

    async def write(self, changes: RestoreChanges, index_steps: Sequence[Step]) -> None:
        now = self.clock()
        if changes or index_steps:
            await record_restore(self.db, self.claim, changes, now, index_steps)
        elif now - self._written_at >= RENEW_EVERY:
            await renew_claims(self.db, self.claim.token, [self.feed.id], now)
        else:
            return
        self._written_at = now


@dataclass(slots=True)
class DryRunTarget:
    """Reads from the store and keeps the changes in memory."""

    db: Database
    feed: Feed
    _known: dict[str, KnownEntry] = field(default_factory=dict)
    _revision_times: dict[int, RevisionTimes] = field(default_factory=dict)
    _guids: dict[int, str] = field(default_factory=dict)

    async def find(self, guids: Sequence[str]) -> KnownAndPurged:
        known, purged = await find_known_entries(self.db, self.feed.id, guids)
        self._guids |= {entry.id: guid for guid, entry in known.items()}
        wanted = set(guids)
        return known | {guid: entry for guid, entry in self._known.items() if guid in wanted}, purged

    async def revision_times(self, ids: Sequence[int]) -> dict[int, RevisionTimes]:
        return (
            await find_revision_times(self.db, [id for id in ids if id not in self._revision_times])
            | self._revision_times
        )

    async def first_entry_at(self) -> datetime | None:
        return await find_first_entry_time(self.db, self.feed.id)

    async def write(self, changes: RestoreChanges, index_steps: Sequence[Step]) -> None:
        times = RevisionTimes(changes.at, changes.at)
        for entry in changes.new:
            # Negative ids are those of no row.
            id = -1 - len(self._guids)
            self._keep(entry.guid, KnownEntry(id, entry.digest, changes.is_current), times)
        for revision in changes.revised:
            known = KnownEntry(revision.entry_id, revision.digest, changes.is_current, revision.number)
            self._keep(self._guids[revision.entry_id], known, times)

    def _keep(self, guid: str, known: KnownEntry, times: RevisionTimes) -> None:
        self._guids[known.id] = guid
        self._known[guid] = known
        self._revision_times[known.id] = times


@asynccontextmanager
async def open_claimed_target(
    db: Database, feed_id: int, clock: Callable[[], datetime]
) -> AsyncIterator[ClaimedTarget | None]:
    """Claims the feed for the block, after a refresh that runs has ended; None if that takes too long."""
    claim = await _claim(db, feed_id, clock)
    if claim is None:
        yield None
        return
    try:
        yield ClaimedTarget(db, claim, clock)
    finally:
        await asyncio.shield(release_claims(db, [claim]))


async def _claim(db: Database, feed_id: int, clock: Callable[[], datetime]) -> Claim | None:
    for _ in range(max(1, int(MAX_WAIT / POLL_EVERY))):
        if claims := await claim_feeds(db, [feed_id], clock()):
            return claims[0]
        await asyncio.sleep(POLL_EVERY.total_seconds())
    return None
