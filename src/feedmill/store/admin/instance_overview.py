"""Counts of feeds, entries, images, pool items and bytes of the whole instance."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import and_, bindparam, func, or_, select

from feedmill.errors import StatementRefused
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database
from feedmill.store.dialect import DATABASE_SIZE, count_where
from feedmill.store.feeds.claims import LEASE
from feedmill.store.schema import entries, feeds, image_tasks, object_garbage, pool_items, raw_bodies

# A worker renews its claim every minute. A claim that was not renewed for longer belongs to a queued job, or to a
# process that died.
RENEWED_WITHIN = timedelta(seconds=75)
POOL_STATES = {0: "used", 1: "available", 2: "queued", 3: "leased", 4: "dead", 5: "held"}

_free = or_(feeds.c.claim_token.is_(None), feeds.c.claimed_until <= bindparam("now"))
_enabled = feeds.c.status != "disabled"
FEEDS = select(
    func.count().label("total"),
    count_where(feeds.c.status == "active").label("active"),
    count_where(feeds.c.status == "error").label("error"),
    count_where(feeds.c.status == "disabled").label("disabled"),
    count_where(and_(feeds.c.consecutive_failures > 0, _enabled)).label("failing"),
    count_where(and_(feeds.c.next_fetch_at.is_(None), _enabled)).label("resting"),
    count_where(feeds.c.last_fetched_at.is_(None)).label("new"),
    count_where(and_(feeds.c.next_fetch_at <= bindparam("now"), _free)).label("due"),
    count_where(feeds.c.claimed_until > bindparam("alive")).label("running"),
    count_where(and_(feeds.c.claimed_until > bindparam("now"), feeds.c.claimed_until <= bindparam("alive"))).label(
        "unattended"
    ),
)
TIMES = select(
    func.max(feeds.c.last_fetched_at).label("last_fetched_at"), func.min(feeds.c.next_fetch_at).label("next_fetch_at")
)
ENTRIES = select(func.count().label("entries")).select_from(entries)
IMAGES = select(
    image_tasks.c.status, func.count().label("images"), func.coalesce(func.sum(image_tasks.c.size), 0).label("bytes")
).group_by(image_tasks.c.status)
RAW = select(func.count().label("bodies"), func.coalesce(func.sum(raw_bodies.c.size), 0).label("bytes"))
GARBAGE = select(func.count().label("objects")).select_from(object_garbage)
POOLS = select(pool_items.c.kind, pool_items.c.status, func.count().label("items")).group_by(
    pool_items.c.kind, pool_items.c.status
)


@dataclass(frozen=True, slots=True)
class Overview:
    """Counts and sizes of the instance. `database_bytes` is None where the database does not report it."""

    feeds: dict[str, int]
    last_fetched_at: str | None
    next_fetch_at: str | None
    entries: int
    images: dict[str, int]
    pools: dict[str, dict[str, int]]
    raw_bodies: int
    image_bytes: int
    object_bytes: int
    objects_to_delete: int
    database_bytes: int | None


async def count_feeds_by_state(db: Database, now: datetime) -> dict[str, int]:
    """The number of feeds by state; a feed may be in several."""
    [counts] = await db.query(FEEDS, {"now": to_iso(now), "alive": to_iso(now + LEASE - RENEWED_WITHIN)})
    return {name: int(value) for name, value in counts.items()}


async def read_overview(db: Database, now: datetime) -> Overview:
    [times] = await db.query(TIMES)
    [entry_count] = await db.query(ENTRIES)
    [raw] = await db.query(RAW)
    [garbage] = await db.query(GARBAGE)
    images = await db.query(IMAGES)
    image_bytes = sum(int(row["bytes"]) for row in images)
    return Overview(
        feeds=await count_feeds_by_state(db, now),
        **times,
        entries=entry_count["entries"],
        images={"pending": 0, "success": 0, "failed": 0} | {row["status"]: row["images"] for row in images},
        pools=await _pools(db),
        raw_bodies=raw["bodies"],
        image_bytes=image_bytes,
        object_bytes=int(raw["bytes"]) + image_bytes,
        objects_to_delete=garbage["objects"],
        database_bytes=await database_size(db),
    )


async def _pools(db: Database) -> dict[str, dict[str, int]]:
    counted = {kind: dict.fromkeys(POOL_STATES.values(), 0) for kind in ("titles", "contents")}
    for row in await db.query(POOLS):
        counted.setdefault(row["kind"], {})[POOL_STATES.get(row["status"], str(row["status"]))] = row["items"]
    return counted


async def database_size(db: Database) -> int | None:
    """The size of the database in bytes; None where it does not report it."""
    try:
        [row] = await db.query(DATABASE_SIZE[db.dialect_name])
    except StatementRefused:
        # D1 uses the dialect of SQLite, but refuses its PRAGMA.
        return None
    return None if row["bytes"] is None else int(row["bytes"])
