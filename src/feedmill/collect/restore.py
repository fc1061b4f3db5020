"""Restores entries from the raw bodies that we kept, through today's parser.

    claim → for each kept body, the oldest first: read → parse → compare → store in one batch

A body gives what today's parser finds in it and the store lacks. It is taken as of the time it arrived: entries
without a date get that time, and only the newest complete body, with truncated ones after it, says what is in the feed
now. A text replaces nothing newer: an entry is revised from the body that brought its present text, or from a later
one. So a second run changes nothing.
"""

from collections.abc import AsyncIterable, Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from feedmill.archive.blobs import Blobs
from feedmill.collect.entries.changes import compare_entries, entries_by_identity, identities_to_look_up
from feedmill.collect.refresh import RefreshTools
from feedmill.collect.refresh_decision import feed_facts
from feedmill.collect.restore_bodies import BodyToRestore, current_bodies, parse_body
from feedmill.collect.restore_plan import RestorePlan
from feedmill.collect.restore_target import DryRunTarget, RestoreTarget, open_claimed_target
from feedmill.errors import BlobMissing, NotAFeed
from feedmill.lazy_loggers import get_logger
from feedmill.model.feed import ArchivePolicy
from feedmill.model.parsed_feed import ParsedFeed
from feedmill.model.raw_body import INCOMPLETE
from feedmill.store.archive.raw_bodies import step_to_add_raw_body
from feedmill.store.archive.record_restore import ReplayChanges
from feedmill.store.database import Step
from feedmill.store.feeds.record_refresh import ClaimLost
from feedmill.threads import run_in_thread_if_large

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """What came of bodies: how many there were, what they gave, how many could not be read or were gone.

    `busy` counts the feeds that somebody else held.
    """

    bodies: int = 0
    added: int = 0
    revised: int = 0
    unreadable: int = 0
    missing: int = 0
    busy: int = 0

    def __add__(self, other: "RestoreReport") -> "RestoreReport":
        return RestoreReport(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


ReportProgress = Callable[[RestoreReport], None]


async def restore_feeds(tools: RefreshTools, plans: AsyncIterable[RestorePlan], tell: ReportProgress) -> RestoreReport:
    """Restores feed by feed, each under its claim."""
    total = RestoreReport()
    async for plan in plans:
        try:
            total += await _restore_claimed(tools, plan, tell)
        except ClaimLost as error:
            log.warning("restore_claim_lost", feed_id=plan.feed.id, reason=str(error))
            total += RestoreReport(busy=1)
    return total


async def preview_restore(
    tools: RefreshTools, plans: AsyncIterable[RestorePlan], tell: ReportProgress
) -> RestoreReport:
    """What `restore` would do."""
    total = RestoreReport()
    async for plan in plans:
        total += await restore_feed(tools.blobs, DryRunTarget(tools.db, plan.feed), await plan.backups(), tell)
    return total


async def _restore_claimed(tools: RefreshTools, plan: RestorePlan, tell: ReportProgress) -> RestoreReport:
    async with open_claimed_target(tools.db, plan.feed.id, tools.clock) as ledger:
        if ledger is None:
            log.warning("restore_feed_skipped", feed_id=plan.feed.id)
            return RestoreReport(busy=1)
        return await restore_feed(tools.blobs, ledger, await plan.backups(), tell)


async def restore_feed(
    blobs: Blobs, ledger: RestoreTarget, backups: Sequence[BodyToRestore], tell: ReportProgress
) -> RestoreReport:
    """Replays what was kept of one feed into its ledger; `tell` hears of each body."""
    # Of a feed that has moved away, nothing is in the feed now.
    current = [] if ledger.feed.has_moved_away else await current_bodies(blobs, backups)
    total = RestoreReport()
    for backup in backups:
        if backup.in_period:
            one = await _replay_body(blobs, ledger, backup, is_current=backup in current)
            tell(one)
            total += one
    return total


async def _replay_body(
    blobs: Blobs, ledger: RestoreTarget, backup: BodyToRestore, *, is_current: bool
) -> RestoreReport:
    try:
        data = await blobs.get(backup.body.key)
    except BlobMissing:
        return RestoreReport(bodies=1, missing=1)
    try:
        parsed = await parse_body(data, backup)
    except NotAFeed as error:
        await ledger.write(ReplayChanges(backup.body.at), _index(backup, data, str(error)))
        return RestoreReport(bodies=1, unreadable=1)
    replayed = await _compare(ledger, backup, parsed, len(data), is_current=is_current)
    parse_result = INCOMPLETE if parsed.is_truncated else "ok"
    await ledger.write(replayed, _index(backup, data, parse_result, len(parsed.entries)))
    return RestoreReport(bodies=1, added=len(replayed.new), revised=len(replayed.revised))


def _index(backup: BodyToRestore, data: bytes, parse_result: str, entry_count: int = 0) -> Sequence[Step]:
    """What the index must be told of a body that it does not have."""
    if backup.body.indexed:
        return ()
    return (step_to_add_raw_body(backup.body, sha256(data).hexdigest(), parse_result, entry_count),)


async def _compare(
    ledger: RestoreTarget, backup: BodyToRestore, parsed: ParsedFeed, size: int, *, is_current: bool
) -> ReplayChanges:
    entries = await run_in_thread_if_large(size, entries_by_identity, parsed)
    known, purged = await ledger.find(identities_to_look_up(entries))
    with_images = ledger.feed.archive_policy is ArchivePolicy.ALL
    site_url = parsed.link or backup.url
    changes = await run_in_thread_if_large(
        size, compare_entries, entries, known, purged, backup.body.at, site_url=site_url, with_images=with_images
    )
    versions = await ledger.versions([*(one.entry_id for one in changes.revised), *changes.returned])
    return ReplayChanges(
        at=backup.body.at,
        is_current=is_current,
        new=changes.new,
        revised=tuple(one for one in changes.revised if versions[one.entry_id].at < backup.next_at),
        seen=tuple(id for id in changes.returned if is_current or versions[id].last_seen_at < backup.body.at),
        facts=feed_facts(parsed),
    )
