"""Queues the digests of targets: at seven in the morning, each day or each Monday, in the time zone of the user."""

from datetime import UTC, datetime, timedelta, tzinfo

from feedmill.i18n.dates import time_zone
from feedmill.library.entries.list_entries import EntryListQuery, list_entries
from feedmill.library.outbound_tools import OutboundTools
from feedmill.library.users.preferences import stored_zone
from feedmill.model.entry_lists import EntryView
from feedmill.model.notifications.notification_target import DigestPeriod, DueDigest
from feedmill.store.entries.fill_deferred_entries import fill_deferred
from feedmill.store.notifications.digests import due_digests, record_digest

HOUR = 7
MONDAY = 0
DIGESTS_AT_ONCE = 20
# The newest entries that a digest tells of.
MOST_ENTRIES = 100


async def queue_due_digests(tools: OutboundTools) -> int:
    """Queues some of the digests that are due; how many there were."""
    due = await due_digests(tools.db, tools.clock(), DIGESTS_AT_ONCE)
    for digest in due:
        await _queue(tools, digest)
    return len(due)


async def _queue(tools: OutboundTools, due: DueDigest) -> None:
    now = tools.clock()
    wanted = EntryListQuery(EntryView.UNREAD, most=MOST_ENTRIES, since=now - due.period.length)
    await fill_deferred(tools.db, due.user_id)
    found = await list_entries(tools.db, due.user_id, wanted, now)
    next_at = next_digest_at(due.period, time_zone(stored_zone(due.user_settings)), now)
    await record_digest(tools.db, due, [entry.id for entry in found.items], next_at or now, now)


def next_digest_at(period: DigestPeriod, zone: tzinfo, now: datetime) -> datetime | None:
    """When the next digest is due; None if there is none."""
    if period is DigestPeriod.NONE:
        return None
    local = now.astimezone(zone)
    day = local.replace(hour=HOUR, minute=0, second=0, microsecond=0)
    while day <= local or (period is DigestPeriod.WEEKLY and day.weekday() != MONDAY):
        day += timedelta(days=1)
    return day.astimezone(UTC)
