"""Deletes sketches of entries that left their feed long ago, and keys without a sketch."""

from datetime import datetime

from sqlalchemy import bindparam, exists, func, select

from feedmill.model.timestamps import to_iso
from feedmill.store.chunks import chunked
from feedmill.store.database import Database, Step
from feedmill.store.literal_limits import literal_number
from feedmill.store.schema import entries, story_keys, story_sketches

# Ids of entries whose sketches are deleted by one batch.
WINDOW = 2000
# Keys that are checked by one query.
KEYS_AT_ONCE = 5000

BOUNDS = select(func.min(story_sketches.c.entry_id).label("first"), func.max(story_sketches.c.entry_id).label("last"))
_old = select(entries.c.id).where(
    entries.c.id > bindparam("after_id"),
    entries.c.id <= bindparam("until_id"),
    entries.c.in_feed == 0,
    entries.c.last_seen_at < bindparam("before"),
)
DROP_SKETCHES = story_sketches.delete().where(story_sketches.c.entry_id.in_(_old))

_next_keys = (
    select(story_keys.c.story_key)
    .where(story_keys.c.story_key > bindparam("after_key"))
    .order_by(story_keys.c.story_key)
    .limit(literal_number(KEYS_AT_ONCE))
    .subquery("next_keys")
)
LAST_OF_NEXT_KEYS = select(func.max(_next_keys.c.story_key).label("last"))
_has_no_sketch = ~exists().where(story_sketches.c.entry_id == story_keys.c.entry_id)
KEYS_WITHOUT_SKETCH = select(story_keys.c.story_key, story_keys.c.entry_id).where(
    story_keys.c.story_key > bindparam("after_key"), story_keys.c.story_key <= bindparam("until_key"), _has_no_sketch
)
# The entry may have been indexed again meanwhile.
DROP_KEY = story_keys.delete().where(
    story_keys.c.story_key == bindparam("key"), story_keys.c.entry_id == bindparam("entry"), _has_no_sketch
)


async def prune_story_index(db: Database, before: datetime) -> int:
    """Deletes what belongs to entries that left their feed before then or are gone; how many sketches there were."""
    dropped = await _drop_sketches(db, before)
    await _drop_keys_without_sketch(db)
    return dropped


async def _drop_sketches(db: Database, before: datetime) -> int:
    [bounds] = await db.query(BOUNDS)
    dropped = 0
    for after in range((bounds["first"] or 1) - 1, bounds["last"] or 0, WINDOW):
        params = {"after_id": after, "until_id": after + WINDOW, "before": to_iso(before)}
        dropped += (await db.batch([Step(DROP_SKETCHES, params)]))[0]
    return dropped


async def _drop_keys_without_sketch(db: Database) -> None:
    """Reads all keys, in their order, and writes only what there is to delete."""
    after = -1
    while (until := (await db.query(LAST_OF_NEXT_KEYS, {"after_key": after}))[0]["last"]) is not None:
        found = await db.query(KEYS_WITHOUT_SKETCH, {"after_key": after, "until_key": until})
        for chunk in chunked(found):
            await db.batch([Step(DROP_KEY, [{"key": row["story_key"], "entry": row["entry_id"]} for row in chunk])])
        after = until
