"""The index by which entries of the same story are found: keys to look entries up by, and sketches to compare."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import exists, select, union_all

from feedmill.model.stories.signature import StoryEntry
from feedmill.model.timestamps import from_iso
from feedmill.store.database import Database, Row
from feedmill.store.dialect import as_list, one_of
from feedmill.store.schema import story_entries, story_keys, story_sketches

KEY_HITS = (
    select(
        story_keys.c.story_key,
        story_keys.c.entry_id,
        story_sketches.c.feed_id,
        story_sketches.c.at,
        story_entries.c.story_id,
    )
    .select_from(
        story_keys.join(story_sketches, story_sketches.c.entry_id == story_keys.c.entry_id).outerjoin(
            story_entries, story_entries.c.entry_id == story_keys.c.entry_id
        )
    )
    .where(one_of(story_keys.c.story_key, "keys"))
)
_sketch = (story_sketches.c.feed_id, story_sketches.c.at, story_sketches.c.sketch)
_together = (
    select(story_entries.c.story_id, story_entries.c.entry_id, *_sketch)
    .select_from(story_entries.outerjoin(story_sketches, story_sketches.c.entry_id == story_entries.c.entry_id))
    .where(one_of(story_entries.c.story_id, "ids"))
)
_alone = select(story_sketches.c.entry_id.label("story_id"), story_sketches.c.entry_id, *_sketch).where(
    one_of(story_sketches.c.entry_id, "ids"), ~exists().where(story_entries.c.entry_id == story_sketches.c.entry_id)
)
MEMBERS = union_all(_together, _alone)
# Where the sketch of a member was deleted: it is like no other, so that nothing joins its story.
NO_SKETCH = ""
NO_DATE = "2000-01-01T00:00:00.000Z"


class KeyHit(NamedTuple):
    """An entry that has a key. An entry that is alone is a story by itself, with its own id."""

    story_key: int
    entry_id: int
    feed_id: int
    at: str
    story_id: int


async def find_key_hits(db: Database, keys: Iterable[int]) -> dict[int, list[KeyHit]]:
    """By key the entries that have it."""
    rows = await db.query(KEY_HITS, {"keys": as_list(sorted(set(keys)))})
    found: dict[int, list[KeyHit]] = {}
    for row in rows:
        hit = KeyHit(row["story_key"], row["entry_id"], row["feed_id"], row["at"], row["story_id"] or row["entry_id"])
        found.setdefault(hit.story_key, []).append(hit)
    return found


async def read_stories(db: Database, story_ids: Sequence[int]) -> dict[int, list[StoryEntry]]:
    """By story its entries; an entry that is alone is a story by itself."""
    found: dict[int, list[StoryEntry]] = {}
    for row in await db.query(MEMBERS, {"ids": as_list(list(story_ids))}) if story_ids else []:
        found.setdefault(row["story_id"], []).append(_story_entry(row))
    return found


def _story_entry(row: Row) -> StoryEntry:
    at: Any = row["at"] or NO_DATE
    return StoryEntry(row["entry_id"], row["feed_id"] or 0, from_iso(at), row["sketch"] or NO_SKETCH)
