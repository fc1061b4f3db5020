"""Reads stored entries for the story index, adds them to it, and joins stories of stored entries."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Protocol

from msgspec import Struct
from sqlalchemy import Select, String, bindparam, exists, func, or_, select

from feedmill.model.parsed_feed import Enclosure
from feedmill.model.stories.signature import StoryEntry
from feedmill.model.timestamps import from_iso, to_iso
from feedmill.store.columns import Id
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import as_list, insert_new, insert_selected, one_of
from feedmill.store.entries.entry_dates import entry_date
from feedmill.store.entries.read_entries import decode_enclosures
from feedmill.store.literal_limits import literal_number
from feedmill.store.schema import entries, story_entries, story_keys, story_sketches
from feedmill.store.stories.index_new_entries import step_to_add_first_entries

CHUNK_SIZE = 100

_texts = ("id", "feed_id", "link", "title", "summary", "comments_url", "enclosures", "content_html")
_is_sketched = exists().where(story_sketches.c.entry_id == entries.c.id)
# Entries that are in their feed, or left it not long ago: what is older can't be the same article as a new entry.
_is_recent = or_(entries.c.in_feed == 1, entries.c.last_seen_at >= bindparam("since"))
NOT_INDEXED: Select[Any] = (
    select(*(entries.c[name] for name in _texts), entry_date.label("at"))
    .where(entries.c.id >= bindparam("from_id"), entries.c.id < bindparam("before_id"), ~_is_sketched, _is_recent)
    .order_by(entries.c.id.desc())
    .limit(literal_number(CHUNK_SIZE))
)
_own, _earlier = story_entries.alias("own"), story_entries.alias("earlier")
_follows = exists().where(_earlier.c.story_id == _own.c.story_id, _earlier.c.entry_id < _own.c.entry_id)
# Those that are alone, or the first of their story; the others were compared with all of it.
FIRST_OF_STORIES = (
    select(
        func.coalesce(_own.c.story_id, story_sketches.c.entry_id).label("story_id"),
        story_sketches,
    )
    .select_from(story_sketches.outerjoin(_own, _own.c.entry_id == story_sketches.c.entry_id))
    .where(one_of(story_sketches.c.entry_id, "ids"), ~_follows)
    .order_by(story_sketches.c.entry_id)
)
INDEXED = (
    select(story_sketches.c.entry_id)
    .where(story_sketches.c.entry_id >= bindparam("from_id"), story_sketches.c.entry_id < bindparam("before_id"))
    .order_by(story_sketches.c.entry_id.desc())
    .limit(literal_number(CHUNK_SIZE))
)
ADD_SKETCH = insert_selected(
    story_sketches,
    select(
        entries.c.id.label("a"),
        entries.c.feed_id.label("b"),
        bindparam("at", type_=String).label("c"),
        bindparam("sketch", type_=String).label("d"),
    ).where(entries.c.id == bindparam("entry")),
)
ADD_KEY = insert_new(story_keys, "story_key", "entry_id")
ADD_ENTRY = insert_selected(
    story_entries,
    select(entries.c.id.label("a"), bindparam("to", type_=Id).label("b")).where(entries.c.id == bindparam("story")),
)
MOVE = story_entries.update().where(story_entries.c.story_id == bindparam("story")).values(story_id=bindparam("to"))


class UnsignedEntry(Struct, frozen=True, gc=False):
    """A stored entry with what is signed of it."""

    id: int
    feed_id: int
    at: datetime
    link: str | None
    title: str | None
    summary: str | None
    content_html: str | None
    comments_url: str | None
    enclosures: tuple[Enclosure, ...]


class EntryWithKeys(Protocol):
    """An entry of the index with its keys."""

    @property
    def entry(self) -> StoryEntry: ...
    @property
    def keys(self) -> Sequence[int]: ...


async def find_not_indexed(db: Database, from_id: int, before_id: int, since: datetime) -> list[UnsignedEntry]:
    """Entries between these ids that the index lacks, the newest first; at most `CHUNK_SIZE`."""
    rows = await db.query(NOT_INDEXED, {"from_id": from_id, "before_id": before_id, "since": to_iso(since)})
    return [_unsigned(row) for row in rows]


async def find_indexed_ids(db: Database, from_id: int, before_id: int) -> list[int]:
    """The ids between these that are in the index, the newest first; at most `CHUNK_SIZE`."""
    rows = await db.query(INDEXED, {"from_id": from_id, "before_id": before_id})
    return [row["entry_id"] for row in rows]


async def read_first_of_stories(db: Database, ids: Iterable[int]) -> dict[int, StoryEntry]:
    """By story its first entry, if that is one of these; an entry that is alone is a story by itself."""
    rows = await db.query(FIRST_OF_STORIES, {"ids": as_list(sorted(ids))})
    return {
        row["story_id"]: StoryEntry(row["entry_id"], row["feed_id"], from_iso(row["at"]), row["sketch"]) for row in rows
    }


def steps_to_index_entries(signed: Sequence[EntryWithKeys]) -> list[Step]:
    """Adds stored entries to the index."""
    sketches = [{"entry": one.entry.entry_id, "at": to_iso(one.entry.at), "sketch": one.entry.sketch} for one in signed]
    keys = [{"story_key": key, "entry_id": one.entry.entry_id} for one in signed for key in one.keys]
    return [Step(ADD_SKETCH, sketches), Step(ADD_KEY, keys)]


def steps_to_join_stories(story_id: int, to_story: int) -> list[Step]:
    """Joins a story, or an entry that is alone, to another story."""
    params = {"story": story_id, "to": to_story}
    return [step_to_add_first_entries([to_story]), Step(MOVE, params), Step(ADD_ENTRY, params)]


def _unsigned(row: Row) -> UnsignedEntry:
    values = {name: row[name] for name in _texts}
    return UnsignedEntry(**values | {"at": from_iso(row["at"]), "enclosures": decode_enclosures(row["enclosures"])})
