"""Finds the stored entries of a feed that a response may repeat, and when its first entry came."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Integer, bindparam, func, literal, select, union_all

from feedmill.model.refresh import GoneEntry, KnownEntry
from feedmill.model.timestamps import datetime_or_none, to_iso
from feedmill.store.database import Database, Row
from feedmill.store.dialect import as_list, one_of
from feedmill.store.entries.read_entries import decode_enclosures
from feedmill.store.schema import entries, tombstones

_known = select(entries.c.id, entries.c.guid, entries.c.digest, entries.c.in_feed, entries.c.revision_count)
IN_FEED = _known.where(entries.c.feed_id == bindparam("feed_id"), entries.c.in_feed == 1)
BY_GUID = union_all(
    _known.where(entries.c.feed_id == bindparam("feed_id"), one_of(entries.c.guid, "guids")),
    select(literal(0), tombstones.c.guid, literal(""), literal(0), literal(0)).where(
        tombstones.c.feed_id == bindparam("feed_id"), one_of(tombstones.c.guid, "guids")
    ),
)
_gone = select(
    entries.c.id,
    entries.c.guid,
    entries.c.digest,
    entries.c.title,
    entries.c.link,
    entries.c.published_at,
    entries.c.undated,
    entries.c.enclosures,
    entries.c.in_feed,
    entries.c.revision_count,
)
GONE = _gone.where(one_of(entries.c.id, "ids"))
LEFT_SINCE = (
    _gone.where(
        entries.c.feed_id == bindparam("feed_id"), entries.c.in_feed == 0, entries.c.last_seen_at >= bindparam("since")
    )
    .order_by(entries.c.last_seen_at.desc())
    .limit(bindparam("most", type_=Integer))
)
WHICH_LEFT = select(entries.c.id).where(
    one_of(entries.c.id, "ids"), entries.c.in_feed == 0, entries.c.last_seen_at >= bindparam("since")
)
FIRST_TIME = select(func.min(entries.c.first_seen_at).label("at")).where(entries.c.feed_id == bindparam("feed_id"))


async def find_known_entries(
    db: Database, feed_id: int, guids: Sequence[str]
) -> tuple[dict[str, KnownEntry], set[str]]:
    """By guid the stored entries: these, and all that were in the last response; and which of these were purged."""
    rows = list(await db.query(IN_FEED, {"feed_id": feed_id}))
    seen = {row["guid"] for row in rows}
    if missing := [guid for guid in guids if guid not in seen]:
        rows += await db.query(BY_GUID, {"feed_id": feed_id, "guids": as_list(missing)})
    purged = {row["guid"] for row in rows if not row["id"]}
    known = {
        row["guid"]: KnownEntry(row["id"], row["digest"], bool(row["in_feed"]), row["revision_count"])
        for row in rows
        if row["id"]
    }
    return known, purged


async def find_first_entry_time(db: Database, feed_id: int) -> datetime | None:
    """When the first of the feed's stored entries was first seen; None if it has none."""
    [row] = await db.query(FIRST_TIME, {"feed_id": feed_id})
    return datetime_or_none(row["at"])


async def find_gone_entries(db: Database, ids: Sequence[int]) -> list[GoneEntry]:
    """These entries, with what would show that their feed has them under other guids."""
    return [_gone_entry(row) for row in await db.query(GONE, {"ids": as_list(list(ids))})] if ids else []


async def find_entries_that_left(db: Database, feed_id: int, since: datetime, most: int) -> list[GoneEntry]:
    """The entries that left the feed since then, at most so many, those that left last."""
    params = {"feed_id": feed_id, "since": to_iso(since), "most": most}
    return [_gone_entry(row) for row in await db.query(LEFT_SINCE, params)]


async def find_which_left(db: Database, ids: Sequence[int], since: datetime) -> set[int]:
    """Those of these entries that left their feed since then."""
    params = {"ids": as_list(list(ids)), "since": to_iso(since)}
    return {row["id"] for row in await db.query(WHICH_LEFT, params)} if ids else set()


def _gone_entry(row: Row) -> GoneEntry:
    return GoneEntry(
        id=row["id"],
        guid=row["guid"],
        digest=row["digest"],
        title=row["title"],
        link=row["link"],
        date=None if row["undated"] else datetime_or_none(row["published_at"]),
        files=tuple([enclosure.url for enclosure in decode_enclosures(row["enclosures"])]),
        in_feed=bool(row["in_feed"]),
        revision_count=row["revision_count"],
    )
