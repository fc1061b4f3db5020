"""Reads single entries and the latest of a feed, without checking who asks (command line, image archive)."""

from sqlalchemy import bindparam, select

from feedmill.store.database import Database, Row
from feedmill.store.schema import entries, feeds, image_tasks, revisions

LATEST = (
    select(
        entries.c.id,
        entries.c.guid,
        entries.c.link,
        entries.c.title,
        entries.c.author,
        entries.c.sort_at,
        entries.c.published_at,
        entries.c.in_feed,
        entries.c.revision_count,
    )
    .where(entries.c.feed_id == bindparam("feed_id"))
    .order_by(entries.c.sort_at.desc(), entries.c.id.desc())
    .limit(bindparam("most"))
)
ONE = (
    select(entries, feeds.c.url.label("feed_url"), feeds.c.title.label("feed_title"))
    .join(feeds, feeds.c.id == entries.c.feed_id)
    .where(entries.c.id == bindparam("entry_id"))
)
REVISIONS = select(revisions).where(revisions.c.entry_id == bindparam("entry_id")).order_by(revisions.c.number)
IMAGES = (
    select(image_tasks.c.position, image_tasks.c.original_url, image_tasks.c.status, image_tasks.c.object_key)
    .where(image_tasks.c.entry_id == bindparam("entry_id"))
    .order_by(image_tasks.c.position)
)


async def latest_entries(db: Database, feed_id: int, most: int) -> list[Row]:
    """The newest entries of a feed, without their texts."""
    return await db.query(LATEST, {"feed_id": feed_id, "most": most})


async def read_entry(db: Database, entry_id: int) -> Row | None:
    """Everything that is kept of an entry in its own row, and its feed's name."""
    rows = await db.query(ONE, {"entry_id": entry_id})
    return rows[0] if rows else None


async def revisions_of(db: Database, entry_id: int) -> list[Row]:
    """What the feed made of the entry later, the first change first."""
    return await db.query(REVISIONS, {"entry_id": entry_id})


async def images_of(db: Database, entry_id: int) -> list[Row]:
    return await db.query(IMAGES, {"entry_id": entry_id})
