"""Steps that add the new entries of a refresh to the story index, and to their stories.

All new entries are added by one or two statements: with a round trip for each key, a database on another machine would
take longer for the keys than for the entries.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec
from sqlalchemy import TextClause, select, text

from feedmill.model.timestamps import to_iso
from feedmill.store.chunks import chunked
from feedmill.store.database import Step
from feedmill.store.dialect import as_list, insert_selected, one_of
from feedmill.store.schema import entries, story_entries

# :listed is a list of [guid, time, sketch, [key, …], story or null]. Each is joined with the feed's entry that has the
# guid; on SQLite in the order of a CROSS JOIN, because it would read the list for each entry of the feed.
SKETCHES = {
    "sqlite": """
        SELECT entries.id, entries.feed_id, json_extract(listed.value, '$[1]'), json_extract(listed.value, '$[2]')
        FROM json_each(:listed) AS listed CROSS JOIN entries
        WHERE entries.feed_id = :feed_id AND entries.guid = json_extract(listed.value, '$[0]')""",
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
    "mysql": """
        SELECT listed.story_key, entries.id
        FROM JSON_TABLE(:listed, '$[*]' COLUMNS (
            guid VARCHAR(512) PATH '$[0]', NESTED PATH '$[3][*]' COLUMNS (story_key BIGINT PATH '$'))) AS listed
        JOIN entries ON entries.feed_id = :feed_id AND entries.guid = listed.guid
        WHERE listed.story_key IS NOT NULL""",
}
# PostgreSQL inserts into both tables by one statement.
SKETCHES_AND_KEYS = text("""
    WITH new AS MATERIALIZED (
        SELECT entries.id, entries.feed_id, listed.value
        FROM jsonb_array_elements(CAST(:listed AS jsonb)) AS listed(value)
        JOIN entries ON entries.feed_id = :feed_id AND entries.guid = listed.value ->> 0
    ), sketches AS (
        INSERT INTO story_sketches (entry_id, feed_id, at, sketch)
        SELECT id, feed_id, value ->> 1, value ->> 2 FROM new ON CONFLICT DO NOTHING
    )
    INSERT INTO story_keys (story_key, entry_id)
    SELECT CAST(listed_key.value AS bigint), new.id
    FROM new CROSS JOIN jsonb_array_elements_text(new.value -> 3) AS listed_key(value) ON CONFLICT DO NOTHING""")
STORIES = {
    "sqlite": """
        SELECT entries.id, json_extract(listed.value, '$[4]')
        FROM json_each(:listed) AS listed CROSS JOIN entries
        WHERE entries.feed_id = :feed_id AND entries.guid = json_extract(listed.value, '$[0]')
        AND json_extract(listed.value, '$[4]') IS NOT NULL""",
    "postgresql": """
        SELECT entries.id, CAST(listed.value ->> 4 AS bigint)
        FROM json_array_elements(CAST(:listed AS json)) AS listed(value)
        JOIN entries ON entries.feed_id = :feed_id AND entries.guid = listed.value ->> 0
        WHERE listed.value ->> 4 IS NOT NULL""",
    "mysql": """
        SELECT entries.id, listed.story_id
        FROM JSON_TABLE(:listed, '$[*]' COLUMNS (guid VARCHAR(512) PATH '$[0]', story_id BIGINT PATH '$[4]')) AS listed
        JOIN entries ON entries.feed_id = :feed_id AND entries.guid = listed.guid
        WHERE listed.story_id IS NOT NULL""",
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
INDEX = {
    "postgresql": (SKETCHES_AND_KEYS,),
    **{dialect: (ADD_SKETCHES[dialect], ADD_KEYS[dialect]) for dialect in SKETCHES},
}
JOIN_STORIES = _insert("story_entries", "entry_id, story_id", STORIES)
# Selected from the entries: one may have been purged meanwhile.
ADD_FIRST = insert_selected(
    story_entries, select(entries.c.id.label("a"), entries.c.id.label("b")).where(one_of(entries.c.id, "story_ids"))
)


class IndexedEntry(NamedTuple):
    """A new entry of a feed as the index stores it, and the story that it joins."""

    guid: str
    at: datetime
    sketch: str
    keys: Sequence[int]
    story_id: int | None


def steps_to_index_new_entries(dialect: str, feed_id: int, new: Sequence[IndexedEntry]) -> list[Step]:
    """Follow the step that stores the entries. Few statements for many entries, because D1 limits their number."""
    return [step for chunk in chunked(new) for step in _steps(dialect, feed_id, chunk)]


def step_to_add_first_entries(story_ids: Iterable[int]) -> Step:
    """Adds the entries with which these stories began, in order: so two refreshes do not wait for each other."""
    return Step(ADD_FIRST, {"story_ids": as_list(sorted(set(story_ids)))})


def _steps(dialect: str, feed_id: int, new: Sequence[IndexedEntry]) -> list[Step]:
    listed = [[entry.guid, to_iso(entry.at), entry.sketch, entry.keys, entry.story_id] for entry in new]
    params = {"feed_id": feed_id, "listed": msgspec.json.encode(listed).decode()}
    story_ids = [entry.story_id for entry in new if entry.story_id is not None]
    joining = [step_to_add_first_entries(story_ids), Step(JOIN_STORIES[dialect], params)] if story_ids else []
    return [*(Step(statement, params) for statement in INDEX[dialect]), *joining]
