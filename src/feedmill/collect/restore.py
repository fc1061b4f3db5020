"""Restores entries from the raw bodies in the archive, with today's parser.

    claim → for each body, the oldest first: read → parse → compare → record in one batch

What the parser finds in a body and the store lacks is added, as of the time when the body arrived: entries without a
date get that time, and the first body that is a feed counts as the first fetch. The newest complete body, with
truncated ones after it, says what is in the feed now. A text replaces no newer one: an entry is revised only from the
body that brought its present text, or from a later one. So a second run changes nothing.
"""

from collections.abc import AsyncIterable, Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from feedmill.archive.blobs import Blobs
from feedmill.collect.entries.changes import compare_entries, entries_by_identity, identities_to_look_up
from feedmill.collect.refresh import RefreshTools
from feedmill.collect.refresh_decision import storable_metadata
from feedmill.collect.restore_bodies import BodyToRestore, current_bodies, parse_body
from feedmill.collect.restore_plan import RestorePlan
from feedmill.collect.restore_target import DryRunTarget, RestoreTarget, open_claimed_target
from feedmill.errors import BlobMissing, NotAFeed
from feedmill.lazy_loggers import get_logger
from feedmill.model.feed import ArchivePolicy
from feedmill.model.parsed_feed import ParsedFeed
from feedmill.model.raw_body import INCOMPLETE
from feedmill.run_in_thread import run_in_thread_if_large
from feedmill.store.archive.raw_bodies import step_to_add_raw_body
from feedmill.store.archive.record_restore import RestoreChanges
from feedmill.store.database import Step
from feedmill.store.feeds.record_refresh import ClaimLost
from feedmill.store.search.index_in_lots import index_waiting_texts

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """How many bodies were read, what they added and revised, and how many were no feed or missing.

    `busy` counts the feeds that another process had claimed.
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


async def restore_feeds(
    tools: RefreshTools, plans: AsyncIterable[RestorePlan], report: ReportProgress
) -> RestoreReport:
    """Restores feed by feed, each under its claim, and indexes what was restored."""
    total = RestoreReport()
    async for plan in plans:
        try:
            total += await _restore_claimed(tools, plan, report)
        except ClaimLost as error:
            log.warning("restore_claim_lost", feed_id=plan.feed.id, reason=str(error))
            total += RestoreReport(busy=1)
    await index_waiting_texts(tools.db)
    return total


async def preview_restore(
    tools: RefreshTools, plans: AsyncIterable[RestorePlan], report: ReportProgress
) -> RestoreReport:
    """What `restore_feeds` would do; writes nothing."""
    total = RestoreReport()
    async for plan in plans:
        total += await restore_feed(tools.blobs, DryRunTarget(tools.db, plan.feed), await plan.list_bodies(), report)
    return total


async def _restore_claimed(tools: RefreshTools, plan: RestorePlan, report: ReportProgress) -> RestoreReport:
    async with open_claimed_target(tools.db, plan.feed.id, tools.clock) as target:
        if target is None:
            log.warning("restore_feed_skipped", feed_id=plan.feed.id)
            return RestoreReport(busy=1)
        return await restore_feed(tools.blobs, target, await plan.list_bodies(), report)


async def restore_feed(
    blobs: Blobs, target: RestoreTarget, bodies: Sequence[BodyToRestore], report: ReportProgress
) -> RestoreReport:
    """Restores the bodies of one feed into the target; `report` is called after each."""
    # A feed that has moved away has no entries now.
    current = [] if target.feed.has_moved_away else await current_bodies(blobs, bodies)
    first_entry_at = await target.first_entry_at()
    total, is_first = RestoreReport(), True
    for body in bodies:
        is_first = is_first and (first_entry_at is None or body.body.at <= first_entry_at)
        if body.in_period:
            one = await _replay_body(blobs, target, body, is_current=body in current, is_first=is_first)
            report(one)
            total += one
        # A body that is no feed brought nothing, nor did one that is missing.
        is_first = is_first and total.bodies == total.unreadable + total.missing
    return total


async def _replay_body(
    blobs: Blobs, target: RestoreTarget, source: BodyToRestore, *, is_current: bool, is_first: bool
) -> RestoreReport:
    try:
        data = await blobs.get(source.body.key)
    except BlobMissing:
        return RestoreReport(bodies=1, missing=1)
    try:
        parsed = await parse_body(data, source)
    except NotAFeed as error:
        await target.write(RestoreChanges(source.body.at), _index_steps(source, data, str(error)))
        return RestoreReport(bodies=1, unreadable=1)
    changes = await _compare(target, source, parsed, len(data), is_current=is_current, is_first=is_first)
    parse_result = INCOMPLETE if parsed.is_truncated else "ok"
    await target.write(changes, _index_steps(source, data, parse_result, len(parsed.entries)))
    return RestoreReport(bodies=1, added=len(changes.new), revised=len(changes.revised))


def _index_steps(source: BodyToRestore, data: bytes, parse_result: str, entry_count: int = 0) -> Sequence[Step]:
    """The steps that list a body which the index lacks."""
    if source.body.indexed:
        return ()
    return (step_to_add_raw_body(source.body, sha256(data).hexdigest(), parse_result, entry_count),)


async def _compare(
    target: RestoreTarget, source: BodyToRestore, parsed: ParsedFeed, size: int, *, is_current: bool, is_first: bool
) -> RestoreChanges:
    entries = await run_in_thread_if_large(size, entries_by_identity, parsed)
    known, purged = await target.find(identities_to_look_up(entries))
    with_images = target.feed.archive_policy is ArchivePolicy.ALL
    site_url = parsed.link or source.url
    changes = await run_in_thread_if_large(
        size,
        compare_entries,
        entries,
        known,
        purged,
        source.body.at,
        site_url=site_url,
        with_images=with_images,
        is_first=is_first,
    )
    times = await target.revision_times([*(one.entry_id for one in changes.revised), *changes.returned])
    return RestoreChanges(
        at=source.body.at,
        is_current=is_current,
        new=changes.new,
        revised=tuple(one for one in changes.revised if times[one.entry_id].at < source.next_at),
        seen=tuple(id for id in changes.returned if is_current or times[id].last_seen_at < source.body.at),
        metadata=storable_metadata(parsed),
    )
