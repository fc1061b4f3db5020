"""Steps that add the new entries of a refresh to the story index, and to their stories.

The keys of all new entries are added by one statement: with a round trip for each key, a database on another machine
would take longer for the keys than for the entries.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec
from sqlalchemy import TextClause, bindparam, select, text

from feedmill.model.timestamps import to_iso
from feedmill.store.chunks import chunked
from feedmill.store.columns import Id
from feedmill.store.database import Step
from feedmill.store.dialect import insert_selected
from feedmill.store.schema import entries, story_entries

# :listed is a list of [guid, time, sketch, [key, …]]. Each is joined with the feed's entry that has the guid; on SQLite
# in the order of a CROSS JOIN, because it would read the list for each entry of the feed.
SKETCHES = {
    "sqlite": """
        SELECT entries.id, entries.feed_id, json_extract(listed.value, '$[1]'), json_extract(listed.value, '$[2]')
        FROM json_each(:listed) AS listed CROSS JOIN entries
        WHERE entries.feed_id = :feed_id AND entries.guid = json_extract(listed.value, '$[0]')""",
    "postgresql": """
        SELECT entries.id, entries.feed_id, listed.value ->> 1, listed.value ->> 2
        FROM json_array_elements(CAST(:listed AS json)) AS listed(value)
        JOIN entries ON entries.feed_id = :feed_id AND entries.guid = listed.value ->> 0""",
    "mysql": """
        SELECT entries.id, entries.feed_id, listed.at, listed.sketch
        FROM JSON_TABLE(:listed, '$[*]' COLUMNS (
            guid VARCHAR(512) PATH '$[0]', at VARCHAR(24) PATH '$[1]', sketch VARCHAR(400) PATH '$[2]')) AS listed
        JOIN entries ON entries.feed_id = :feed_id AND entries.guid = listed.guid""",
}
KEYS = {
    "sqlite": """
        SELECT listed_key.value, entries.id
        FROM json_each(:listed) AS listed CROSS JOIN entries CROSS JOIN json_each(listed.value, '$[3]') AS listed_key
        WHERE entries.feed_id = :feed_id AND entries.guid = json_extract(listed.value, '$[0]')""",
    "postgresql": """
        SELECT CAST(listed_key.value AS bigint), entries.id
        FROM json_array_elements(CAST(:listed AS json)) AS listed(value)
        JOIN entries ON entries.feed_id = :feed_id AND entries.guid = listed.value ->> 0
        CROSS JOIN json_array_elements_text(listed.value -> 3) AS listed_key(value)""",
    "mysql": """
        SELECT listed.story_key, entries.id
        FROM JSON_TABLE(:listed, '$[*]' COLUMNS (
            guid VARCHAR(512) PATH '$[0]', NESTED PATH '$[3][*]' COLUMNS (story_key BIGINT PATH '$'))) AS listed
        JOIN entries ON entries.feed_id = :feed_id AND entries.guid = listed.guid
        WHERE listed.story_key IS NOT NULL""",
}


def _insert(table: str, columns: str, selected: Mapping[str, str]) -> dict[str, TextClause]:
    """By dialect, an insert that keeps rows that are there."""
    keep = {"mysql": f"ON DUPLICATE KEY UPDATE {table}.entry_id = {table}.entry_id"}
    return {
        dialect: text(f"INSERT INTO {table} ({columns}) {source} {keep.get(dialect, 'ON CONFLICT DO NOTHING')}")
        for dialect, source in selected.items()
    }


ADD_SKETCHES = _insert("story_sketches", "entry_id, feed_id, at, sketch", SKETCHES)
ADD_KEYS = _insert("story_keys", "story_key, entry_id", KEYS)
# Selected from the entry: it may have been purged meanwhile.
ADD_FIRST = insert_selected(
    story_entries, select(entries.c.id.label("a"), entries.c.id.label("b")).where(entries.c.id == bindparam("story_id"))
)
JOIN_STORY = insert_selected(
    story_entries,
    select(entries.c.id.label("a"), bindparam("story_id", type_=Id).label("b")).where(
        entries.c.feed_id == bindparam("feed_id"), entries.c.guid == bindparam("guid")
    ),
)


class IndexedEntry(NamedTuple):
    """A new entry of a feed as the index stores it, and the story that it joins."""

    guid: str
    at: datetime
    sketch: str
    keys: Sequence[int]
    story_id: int | None


def steps_to_index_new_entries(dialect: str, feed_id: int, new: Sequence[IndexedEntry]) -> list[Step]:
    """Follow the step that stores the entries."""
    return [step for chunk in chunked(new) for step in _steps_to_index(dialect, feed_id, chunk)] + _steps_to_join(
        feed_id, new
    )


def _steps_to_index(dialect: str, feed_id: int, new: Sequence[IndexedEntry]) -> list[Step]:
    listed = [[entry.guid, to_iso(entry.at), entry.sketch, entry.keys] for entry in new]
    params = {"feed_id": feed_id, "listed": msgspec.json.encode(listed).decode()}
    return [Step(ADD_SKETCHES[dialect], params), Step(ADD_KEYS[dialect], params)]


def _steps_to_join(feed_id: int, new: Sequence[IndexedEntry]) -> list[Step]:
    """In the order of the stories, so that two refreshes that join the same ones do not wait for each other."""
    joined = [entry for entry in new if entry.story_id is not None]
    stories = sorted({entry.story_id for entry in joined if entry.story_id is not None})
    rows = [{"feed_id": feed_id, "guid": entry.guid, "story_id": entry.story_id} for entry in joined]
    return [Step(ADD_FIRST, [{"story_id": id} for id in stories]), Step(JOIN_STORY, rows)] if joined else []
