"""The write of a restore: what a kept body still had to give, only by who holds the feed's claim.

Schedule, validators, failures and the state of reading are not in it.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from secrets import token_hex
from typing import Any

from sqlalchemy import bindparam, case, func, select

from feedmill.model.feed import Claim
from feedmill.model.refresh import FeedFacts, NewEntry, Revision
from feedmill.model.times import from_text, text_or_none, to_text
from feedmill.store.claims import FENCE, LEASE
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, one_of
from feedmill.store.entry_rows import add_entries, add_revisions
from feedmill.store.refreshes import write_fenced
from feedmill.store.schema import entries, feeds, revisions

# Comparing with no newest entry is neither true nor false, which leaves it as it is.
_newer = func.coalesce(feeds.c.last_entry_at, "") < bindparam("newest")
FEED_REPLAYED = (
    feeds.update()
    .where(feeds.c.id == bindparam("feed_id"))
    .ordered_values(
        ("fence", FENCE),
        ("claimed_until", bindparam("until")),
        ("entry_count", feeds.c.entry_count + bindparam("new_entries")),
        ("last_entry_at", case((_newer, bindparam("newest")), else_=feeds.c.last_entry_at)),
        # What the feed says of itself fills gaps only.
        *((field.name, func.coalesce(feeds.c[field.name], bindparam(field.name))) for field in fields(FeedFacts)),
    )
)  # fmt: skip
SEEN_LATER = (
    entries.update()
    .where(one_of(entries.c.id, "ids"), entries.c.last_seen_at < bindparam("at"))
    .values(last_seen_at=bindparam("at"))
)
IN_FEED = entries.update().where(one_of(entries.c.id, "ids")).values(in_feed=1)
_last_revision = select(revisions.c.seen_at).where(
    revisions.c.entry_id == entries.c.id, revisions.c.number == entries.c.revision_count
)
VERSIONS = select(
    entries.c.id,
    entries.c.last_seen_at,
    func.coalesce(_last_revision.scalar_subquery(), entries.c.first_seen_at).label("version_at"),
).where(one_of(entries.c.id, "ids"))
NO_FACTS = FeedFacts()


@dataclass(frozen=True, slots=True)
class Version:
    """When the text came that an entry has now, and when the entry was last seen in its feed."""

    at: datetime
    last_seen_at: datetime


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a body that arrived at `at` still has to give. `is_current`: it is what the feed offers now."""

    at: datetime
    is_current: bool = False
    new: tuple[NewEntry, ...] = ()
    revised: tuple[Revision, ...] = ()
    seen: tuple[int, ...] = ()
    facts: FeedFacts = NO_FACTS

    def __bool__(self) -> bool:
        return bool(self.new or self.revised or self.seen)


async def find_versions(db: Database, ids: Sequence[int]) -> dict[int, Version]:
    """The versions of these entries."""
    rows = await db.query(VERSIONS, {"ids": as_list(list(ids))}) if ids else []
    return {row["id"]: Version(from_text(row["version_at"]), from_text(row["last_seen_at"])) for row in rows}


async def record_replayed(
    db: Database, claim: Claim, replayed: Replayed, now: datetime, extra: Sequence[Step] = ()
) -> None:
    """Writes what a body gave and keeps the claim, in one batch; raises `ClaimLost` if it was lost."""
    at = to_text(replayed.at)
    # A token of its own, by which the new entries of this body are told from those of the body before.
    new = add_entries(claim.feed.id, token_hex(16), replayed.new, at, in_feed=replayed.is_current)
    steps = [
        Step(FEED_REPLAYED, _feed_values(claim, replayed, now)),
        *new,
        *add_revisions(replayed.revised, at),
        *_seen(replayed, at),
        *extra,
    ]
    await write_fenced(db, claim, steps)


def _feed_values(claim: Claim, replayed: Replayed, now: datetime) -> dict[str, Any]:
    newest = max((entry.sort_at for entry in replayed.new), default=None)
    return asdict(replayed.facts) | {
        "feed_id": claim.feed.id,
        "token": claim.token,
        "until": to_text(now + LEASE),
        "new_entries": len(replayed.new),
        "newest": text_or_none(newest),
    }


def _seen(replayed: Replayed, at: str) -> list[Step]:
    if not replayed.seen:
        return []
    ids = as_list(list(replayed.seen))
    later = Step(SEEN_LATER, {"ids": ids, "at": at})
    return [later, Step(IN_FEED, {"ids": ids})] if replayed.is_current else [later]
