"""Writes what a restored raw body adds to a feed, in one batch guarded by the claim.

It changes no schedule, validators, failure counts or read states.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from secrets import token_hex
from typing import Any

from sqlalchemy import bindparam, case, func, select

from feedmill.model.feed import Claim
from feedmill.model.refresh import FeedMetadata, NewEntry, Revision
from feedmill.model.timestamps import from_iso, iso_or_none, to_iso
from feedmill.run_in_thread import run_in_thread_if_large
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, one_of
from feedmill.store.entries.add_entries import steps_to_add_entries, steps_to_add_revisions
from feedmill.store.entries.deferred_entries import is_popular
from feedmill.store.entries.newest_texts import is_newest_revision
from feedmill.store.feeds.claims import CLAIM_CHECK, LEASE
from feedmill.store.feeds.record_refresh import write_if_claimed
from feedmill.store.schema import entries, feeds, revisions
from feedmill.store.search.index import text_size

# A comparison with NULL is not true, so a feed without a newest entry stays unchanged.
_newer = func.coalesce(feeds.c.last_entry_at, "") < bindparam("newest")
FEED_RESTORED = (
    feeds.update()
    .where(feeds.c.id == bindparam("feed_id"))
    .ordered_values(
        ("claim_check", CLAIM_CHECK),
        ("claimed_until", bindparam("until")),
        ("entry_count", feeds.c.entry_count + bindparam("new_entries")),
        ("last_entry_at", case((_newer, bindparam("newest")), else_=feeds.c.last_entry_at)),
        # Metadata of the feed is only filled in where it is missing.
        *((field.name, func.coalesce(feeds.c[field.name], bindparam(field.name))) for field in fields(FeedMetadata)),
    )
)
SEEN_LATER = (
    entries.update()
    .where(one_of(entries.c.id, "ids"), entries.c.last_seen_at < bindparam("at"))
    .values(last_seen_at=bindparam("at"))
)
IN_FEED = entries.update().where(one_of(entries.c.id, "ids")).values(in_feed=1)
_last_revision = select(revisions.c.seen_at).where(is_newest_revision)
REVISION_TIMES = select(
    entries.c.id,
    entries.c.last_seen_at,
    func.coalesce(_last_revision.scalar_subquery(), entries.c.first_seen_at).label("version_at"),
).where(one_of(entries.c.id, "ids"))
NO_METADATA = FeedMetadata()


@dataclass(frozen=True, slots=True)
class RevisionTimes:
    """When the current text of an entry arrived, and when the entry was last seen in its feed."""

    at: datetime
    last_seen_at: datetime


@dataclass(frozen=True, slots=True)
class RestoreChanges:
    """What a body that arrived at `at` adds. `is_current`: it is the latest body of the feed."""

    at: datetime
    is_current: bool = False
    new: tuple[NewEntry, ...] = ()
    revised: tuple[Revision, ...] = ()
    seen: tuple[int, ...] = ()
    metadata: FeedMetadata = NO_METADATA

    def __bool__(self) -> bool:
        return bool(self.new or self.revised or self.seen)


async def find_revision_times(db: Database, ids: Sequence[int]) -> dict[int, RevisionTimes]:
    """By id when the current texts of these entries arrived, and when the entries were last seen."""
    rows = await db.query(REVISION_TIMES, {"ids": as_list(list(ids))}) if ids else []
    return {row["id"]: RevisionTimes(from_iso(row["version_at"]), from_iso(row["last_seen_at"])) for row in rows}


async def record_restore(
    db: Database, claim: Claim, changes: RestoreChanges, now: datetime, extra: Sequence[Step] = ()
) -> None:
    """Writes the changes in one batch and keeps the claim; raises `ClaimLost` if it was lost."""
    defers_unread = bool(changes.new) and await is_popular(db, claim.feed.id)
    size = text_size([*changes.new, *changes.revised])
    steps = await run_in_thread_if_large(size, _steps, claim, changes, now, defers_unread)
    await write_if_claimed(db, claim, [*steps, *extra])


def _steps(claim: Claim, changes: RestoreChanges, now: datetime, defers_unread: bool) -> list[Step]:
    at = to_iso(changes.at)
    # A token for this body, which tells its new entries from those of the body before.
    new = steps_to_add_entries(
        claim.feed.id, token_hex(16), changes.new, at, in_feed=changes.is_current, defers_unread=defers_unread
    )
    return [
        Step(FEED_RESTORED, _feed_values(claim, changes, now)),
        *new,
        *steps_to_add_revisions(changes.revised, at),
        *_seen(changes, at),
    ]


def _feed_values(claim: Claim, changes: RestoreChanges, now: datetime) -> dict[str, Any]:
    newest = max((entry.date for entry in changes.new), default=None)
    return asdict(changes.metadata) | {
        "feed_id": claim.feed.id,
        "token": claim.token,
        "until": to_iso(now + LEASE),
        "new_entries": len(changes.new),
        "newest": iso_or_none(newest),
    }


def _seen(changes: RestoreChanges, at: str) -> list[Step]:
    if not changes.seen:
        return []
    ids = as_list(list(changes.seen))
    later = Step(SEEN_LATER, {"ids": ids, "at": at})
    return [later, Step(IN_FEED, {"ids": ids})] if changes.is_current else [later]
