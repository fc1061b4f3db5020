"""The spine of a restore: the path of a refresh, with our own backups in place of the web.

    claim → for each kept body, the oldest first: read → parse → compare → store in one batch

A body gives what today's parser finds in it and the store lacks. It is taken as of the time it arrived: entries
without a date get that time, and only the newest body says what is in the feed now. A text replaces nothing newer:
an entry is revised from the body that brought its present text, or from a later one. So a second run changes nothing.
"""

from collections.abc import AsyncIterable, Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256

import structlog

from feedmill.archive.blobs import Blobs
from feedmill.collect.backups import Backup, newest_readable, understand
from feedmill.collect.decide import facts_of
from feedmill.collect.ledger import ImaginedLedger, Ledger, claimed_ledger
from feedmill.collect.reconcile import asked_for, offered, reconcile
from feedmill.collect.refresh import Tools
from feedmill.collect.restore_plan import Plan
from feedmill.errors import BlobMissing, NotAFeed
from feedmill.model.feed import ArchivePolicy
from feedmill.model.parsed import ParsedFeed
from feedmill.store.database import Step
from feedmill.store.raw import add_body
from feedmill.store.refreshes import ClaimLost
from feedmill.store.restores import Replayed

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Restored:
    """What came of bodies: how many there were, what they gave, how many could not be read or were gone.

    `busy` counts the feeds that somebody else held.
    """

    bodies: int = 0
    added: int = 0
    revised: int = 0
    unreadable: int = 0
    missing: int = 0
    busy: int = 0

    def __add__(self, other: "Restored") -> "Restored":
        return Restored(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


Tell = Callable[[Restored], None]


async def restore(tools: Tools, plans: AsyncIterable[Plan], tell: Tell) -> Restored:
    """Restores feed by feed, each under its claim."""
    total = Restored()
    async for plan in plans:
        try:
            total += await _restore_claimed(tools, plan, tell)
        except ClaimLost as error:
            log.warning("a feed was left: somebody else has it now", feed_id=plan.feed.id, reason=str(error))
            total += Restored(busy=1)
    return total


async def imagine(tools: Tools, plans: AsyncIterable[Plan], tell: Tell) -> Restored:
    """What `restore` would do."""
    total = Restored()
    async for plan in plans:
        total += await restore_feed(tools.blobs, ImaginedLedger(tools.db, plan.feed), await plan.backups(), tell)
    return total


async def _restore_claimed(tools: Tools, plan: Plan, tell: Tell) -> Restored:
    async with claimed_ledger(tools.db, plan.feed.id, tools.clock) as ledger:
        if ledger is None:
            log.warning("a feed was left out: somebody has held it for minutes", feed_id=plan.feed.id)
            return Restored(busy=1)
        return await restore_feed(tools.blobs, ledger, await plan.backups(), tell)


async def restore_feed(blobs: Blobs, ledger: Ledger, backups: Sequence[Backup], tell: Tell) -> Restored:
    """Replays what was kept of one feed into its ledger; `tell` hears of each body."""
    current = await newest_readable(blobs, ledger.feed.id, backups)
    total = Restored()
    for backup in backups:
        if backup.in_period:
            one = await _replay(blobs, ledger, backup, is_current=backup is current)
            tell(one)
            total += one
    return total


async def _replay(blobs: Blobs, ledger: Ledger, backup: Backup, *, is_current: bool) -> Restored:
    try:
        data = await blobs.get(backup.body.key)
    except BlobMissing:
        return Restored(bodies=1, missing=1)
    try:
        parsed = await understand(data, backup)
    except NotAFeed as error:
        await ledger.write(Replayed(backup.body.at), _index(backup, data, str(error)))
        return Restored(bodies=1, unreadable=1)
    replayed = await _compare(ledger, backup, parsed, is_current=is_current)
    await ledger.write(replayed, _index(backup, data, "ok", len(parsed.entries)))
    return Restored(bodies=1, added=len(replayed.new), revised=len(replayed.revised))


def _index(backup: Backup, data: bytes, parse_result: str, entry_count: int = 0) -> Sequence[Step]:
    """What the index must be told of a body that it does not have."""
    if backup.body.indexed:
        return ()
    return (add_body(backup.body, sha256(data).hexdigest(), parse_result, entry_count),)


async def _compare(ledger: Ledger, backup: Backup, parsed: ParsedFeed, *, is_current: bool) -> Replayed:
    entries = offered(parsed)
    known, purged = await ledger.find(asked_for(entries))
    with_images = ledger.feed.archive_policy is ArchivePolicy.ALL
    site_url = parsed.link or backup.url
    changes = reconcile(entries, known, purged, backup.body.at, site_url=site_url, with_images=with_images)
    versions = await ledger.versions([*(one.entry_id for one in changes.revised), *changes.returned])
    return Replayed(
        at=backup.body.at,
        is_current=is_current,
        new=changes.new,
        revised=tuple(one for one in changes.revised if versions[one.entry_id].at < backup.next_at),
        seen=tuple(id for id in changes.returned if is_current or versions[id].last_seen_at < backup.body.at),
        facts=facts_of(parsed),
    )
