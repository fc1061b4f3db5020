"""What a restore writes to: the store under a claim, or memory alone for `--dry-run`."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from feedmill.model.feed import Claim, Feed
from feedmill.model.refresh import KnownEntry
from feedmill.store.archive.record_restore import ReplayChanges, RevisionTimes, find_revision_times, record_replay
from feedmill.store.database import Database, Step
from feedmill.store.feeds.claims import claim_feeds, release_claims, renew_claims
from feedmill.store.feeds.record_refresh import find_known_entries

# Bodies that give nothing are not written, so the claim must be kept alive by itself.
RENEW_EVERY = timedelta(seconds=60)
# A refresh takes seconds; the claim of one that was killed ends within three minutes.
PATIENCE = timedelta(minutes=4)
POLL_EVERY = timedelta(seconds=0.5)

KnownAndPurged = tuple[dict[str, KnownEntry], set[str]]


class RestoreTarget(Protocol):
    """The entries of one feed, as far as a restore is concerned."""

    @property
    def feed(self) -> Feed: ...

    async def find(self, guids: Sequence[str]) -> KnownAndPurged:
        """What is known of these entries, and which of them were purged."""

    async def versions(self, ids: Sequence[int]) -> dict[int, RevisionTimes]:
        """The versions of these entries."""

    async def write(self, replayed: ReplayChanges, index: Sequence[Step]) -> None:
        """Keeps what a body gave, and what the index must be told of the body."""


@dataclass(slots=True)
class ClaimedTarget:
    """The store itself, for as long as the claim holds."""

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

    async def versions(self, ids: Sequence[int]) -> dict[int, RevisionTimes]:
        return await find_revision_times(self.db, ids)

    async def write(self, replayed: ReplayChanges, index: Sequence[Step]) -> None:
        now = self.clock()
        if replayed or index:
            await record_replay(self.db, self.claim, replayed, now, index)
        elif now - self._written_at >= RENEW_EVERY:
            await renew_claims(self.db, self.claim.token, now)
        else:
            return
        self._written_at = now


@dataclass(slots=True)
class DryRunTarget:
    """The store as it is, with what would be written kept in mind only."""

    db: Database
    feed: Feed
    _known: dict[str, KnownEntry] = field(default_factory=dict)
    _versions: dict[int, RevisionTimes] = field(default_factory=dict)
    _guids: dict[int, str] = field(default_factory=dict)

    async def find(self, guids: Sequence[str]) -> KnownAndPurged:
        known, purged = await find_known_entries(self.db, self.feed.id, guids)
        self._guids |= {have.id: guid for guid, have in known.items()}
        asked = set(guids)
        return known | {guid: have for guid, have in self._known.items() if guid in asked}, purged

    async def versions(self, ids: Sequence[int]) -> dict[int, RevisionTimes]:
        return await find_revision_times(self.db, [id for id in ids if id not in self._versions]) | self._versions

    async def write(self, replayed: ReplayChanges, index: Sequence[Step]) -> None:
        version = RevisionTimes(replayed.at, replayed.at)
        for entry in replayed.new:
            # Ids that no row has.
            id = -1 - len(self._guids)
            self._remember(entry.guid, KnownEntry(id, entry.digest, replayed.is_current), version)
        for revision in replayed.revised:
            known = KnownEntry(revision.entry_id, revision.digest, replayed.is_current, revision.number)
            self._remember(self._guids[revision.entry_id], known, version)

    def _remember(self, guid: str, known: KnownEntry, version: RevisionTimes) -> None:
        self._guids[known.id] = guid
        self._known[guid] = known
        self._versions[known.id] = version


@asynccontextmanager
async def open_claimed_target(
    db: Database, feed_id: int, clock: Callable[[], datetime]
) -> AsyncIterator[ClaimedTarget | None]:
    """The feed's ledger, held for the block, after whoever refreshes it now is done; None if that takes too long."""
    claim = await _claim(db, feed_id, clock)
    if claim is None:
        yield None
        return
    try:
        yield ClaimedTarget(db, claim, clock)
    finally:
        await asyncio.shield(release_claims(db, [claim]))


async def _claim(db: Database, feed_id: int, clock: Callable[[], datetime]) -> Claim | None:
    for _ in range(max(1, int(PATIENCE / POLL_EVERY))):
        if claims := await claim_feeds(db, [feed_id], clock()):
            return claims[0]
        await asyncio.sleep(POLL_EVERY.total_seconds())
    return None
