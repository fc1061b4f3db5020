"""Rows for pools, written as a refresh would write them."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import select

from feedmill.model.pool import Guarantee, PoolGroup, PoolKind, PoolOptions, PoolRule
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.entries.labels import add_label, steps_to_label
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.pools.gather_entries import add_stored_entries
from feedmill.store.pools.groups import add_group
from feedmill.store.schema import entries, pool_items, revisions

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
LEASE = PoolOptions(guarantee=Guarantee.LEASE)

ADD_ENTRY = insert(
    entries,
    "feed_id",
    "guid",
    "sort_at",
    "refresh_token",
    "digest",
    "in_feed",
    "first_seen_at",
    "last_seen_at",
    "title",
    "content_html",
    "base_url",
)
IDS = select(entries.c.id, entries.c.guid).order_by(entries.c.id)
ADD_REVISION = insert(revisions, "entry_id", "number", "seen_at", "digest", "title", "content_html")
ALL_ITEMS = select(pool_items).order_by(pool_items.c.id)


async def add_entries(
    db: Database, names: list[str], at: datetime = NOW, url: str = "https://example.org/feed", html: str = "<p>{}</p>"
) -> list[int]:
    """Entries with these names, stored by one refresh; their ids."""
    feed = await add_feed(db, url, at)
    same = {
        "feed_id": feed.id,
        "sort_at": to_iso(at),
        "refresh_token": "t",
        "digest": "d",
        "in_feed": 1,
        "first_seen_at": to_iso(at),
        "last_seen_at": to_iso(at),
        "base_url": url,
    }
    rows = [same | {"guid": name[:100], "title": name, "content_html": html.format(name)} for name in names]
    await db.batch([Step(ADD_ENTRY, rows)])
    known = {row["guid"]: row["id"] for row in await db.query(IDS)}
    return [known[name[:100]] for name in names]


async def add_pool(db: Database, names: list[str], options: PoolOptions | None = None, name: str = "news") -> PoolGroup:
    """A group whose pools have these entries."""
    options = options or PoolOptions()
    group = await add_group(db, name, PoolRule(), options, options, NOW)
    ids = await add_entries(db, names)
    for start in range(0, len(ids), 5000):
        some = ids[start : start + 5000]
        await add_stored_entries(db, {(group.id, PoolKind.TITLES): some, (group.id, PoolKind.CONTENTS): some}, NOW)
    return group


async def revise(db: Database, entry_id: int, title: str, at: datetime, html: str = "<p>new</p>") -> None:
    """The write of a refresh when a feed has changed an entry."""
    row = {"entry_id": entry_id, "number": 1, "seen_at": to_iso(at), "digest": "e", "title": title}
    counted = entries.update().where(entries.c.id == entry_id).values(revision_count=1)
    await db.batch([Step(ADD_REVISION, row | {"content_html": html}), Step(counted)])


async def label(db: Database, user_id: int, name: str, entry_ids: list[int]) -> int:
    """Labels entries as a user would; the label's id."""
    added = await add_label(db, user_id, name)
    await db.batch(steps_to_label(user_id, entry_ids, [added.id]))
    return added.id


async def items_of(db: Database, kind: PoolKind = PoolKind.TITLES) -> list[dict[str, object]]:
    return [dict(row) for row in await db.query(ALL_ITEMS) if row["kind"] == kind]
