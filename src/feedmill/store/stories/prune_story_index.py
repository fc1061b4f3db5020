"""Deletes keys and sketches of entries that left their feed long ago, and keys of entries that are gone."""

from datetime import datetime

from sqlalchemy import bindparam, exists, func, select

from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.schema import entries, story_keys, story_sketches

# Ids of entries whose rows are deleted by one batch.
WINDOW = 2000

BOUNDS = select(func.min(story_keys.c.entry_id).label("first"), func.max(story_keys.c.entry_id).label("last"))
_old = select(entries.c.id).where(
    entries.c.id > bindparam("after_id"),
    entries.c.id <= bindparam("until_id"),
    entries.c.in_feed == 0,
    entries.c.last_seen_at < bindparam("before"),
)
DROP_SKETCHES = story_sketches.delete().where(story_sketches.c.entry_id.in_(_old))
DROP_KEYS = story_keys.delete().where(
    story_keys.c.entry_id > bindparam("after_id"),
    story_keys.c.entry_id <= bindparam("until_id"),
    ~exists().where(story_sketches.c.entry_id == story_keys.c.entry_id),
)


async def prune_story_index(db: Database, before: datetime) -> int:
    """Deletes what belongs to entries that left their feed before then; how many sketches there were."""
    [bounds] = await db.query(BOUNDS)
    dropped = 0
    for after in range((bounds["first"] or 1) - 1, bounds["last"] or 0, WINDOW):
        params = {"after_id": after, "until_id": after + WINDOW, "before": to_iso(before)}
        sketches, _ = await db.batch([Step(DROP_SKETCHES, params), Step(DROP_KEYS, params)])
        dropped += sketches
    return dropped
