"""Joins stored entries to stories in the background.

Two refreshes at the same time do not see each other's entries, a restore does not look for stories, and entries of
earlier versions have no signature. So the entries of the last minutes are compared once more, and all that the index
lacks are added to it, the newest first. It may be interrupted anywhere and run again, also twice at once.
"""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from feedmill.collect.stories.sign_entry import sign_entry
from feedmill.collect.stories.sketch import keys_of_sketch
from feedmill.library.stories.find_stories import MOST_IN_STORY, KeyRoom, SignedEntry, find_story, rank_stories
from feedmill.model.stories.signature import StoryEntry
from feedmill.model.timestamps import from_iso, to_iso
from feedmill.store.database import Database
from feedmill.store.entries.sync.missing_ids import newest_entry_id
from feedmill.store.entries.sync.sync_ids import OVERLAP, last_id_before
from feedmill.store.instance_state import init_instance_value, read_instance_value, set_instance_value
from feedmill.store.stories.prune_story_index import prune_story_index
from feedmill.store.stories.stored_entries import (
    UnsignedEntry,
    find_indexed_ids,
    find_not_indexed,
    read_first_of_stories,
    steps_to_index_entries,
    steps_to_join_stories,
)
from feedmill.store.stories.story_index import find_key_hits, read_stories

# The index keeps entries for so long after they left their feed.
KEPT_FOR = timedelta(days=30)
# Ids that are searched at once for entries that the index lacks.
WINDOW = 2000
# When the newest entries were last compared; the id from which on the index has all entries.
COMPARED_UNTIL, INDEXED_FROM = "stories:compared_until", "stories:indexed_from"

Join = tuple[int, int]
"""A story, or an entry that is alone, and the story that it joins."""


async def join_stored_entries(db: Database, now: datetime) -> dict[str, int]:
    """Compares the newest entries again, and indexes those that are not; how many were indexed, and joined."""
    newest, since = await newest_entry_id(db), now - KEPT_FOR
    last = await read_instance_value(db, COMPARED_UNTIL)
    after = await last_id_before(db, (min(from_iso(last), now) if last else now) - OVERLAP)
    indexed, joined = await _index_and_compare(db, after + 1, newest + 1, since)
    await set_instance_value(db, COMPARED_UNTIL, to_iso(now))
    earlier, joined_earlier = await _index_earlier(db, newest, since)
    return {"entries_indexed": indexed + earlier, "stories_joined": joined + joined_earlier}


async def prune_index(db: Database, now: datetime) -> int:
    """Deletes from the index what is too old to be compared; how many entries."""
    return await prune_story_index(db, now - KEPT_FOR)


async def _index_earlier(db: Database, newest: int, since: datetime) -> tuple[int, int]:
    """Indexes what was stored before there was an index, from the newest down; goes on where it was interrupted."""
    indexed, joined = 0, 0
    down_to = int(await init_instance_value(db, INDEXED_FROM, str(newest + 1)))
    while down_to > 1:
        start = max(1, down_to - WINDOW)
        counts = await _index_and_compare(db, start, down_to, since)
        indexed, joined, down_to = indexed + counts[0], joined + counts[1], start
        await set_instance_value(db, INDEXED_FROM, str(down_to))
    return indexed, joined


async def _index_and_compare(db: Database, from_id: int, before_id: int, since: datetime) -> tuple[int, int]:
    """Indexes what the index lacks between two ids, and compares all; how many entries, and how many were joined."""
    indexed, joined, end = 0, 0, before_id
    while chunk := await find_not_indexed(db, from_id, end, since):
        await _index(db, chunk)
        indexed, end = indexed + len(chunk), chunk[-1].id
    # Also those that were indexed before: a pass may have been interrupted here.
    end = before_id
    while ids := await find_indexed_ids(db, from_id, end):
        joined += await _compare(db, ids)
        end = ids[-1]
    return indexed, joined


async def _index(db: Database, chunk: Sequence[UnsignedEntry]) -> None:
    signed = await asyncio.to_thread(_sign, chunk)
    room = KeyRoom()
    room.note(await find_key_hits(db, {key for each in signed for key in each.keys}))
    await db.batch(steps_to_index_entries([SignedEntry(each.entry, room.take(each)) for each in signed]))


def _sign(chunk: Iterable[UnsignedEntry]) -> list[SignedEntry]:
    signed = ((entry, sign_entry(entry)) for entry in chunk)
    return [SignedEntry(StoryEntry(one.id, one.feed_id, one.at, found.sketch), found.keys) for one, found in signed]


async def _compare(db: Database, ids: Iterable[int]) -> int:
    """Joins these entries, and stories that began with them, to other stories; how many."""
    first = await read_first_of_stories(db, ids)
    signed = {id: SignedEntry(entry, keys_of_sketch(entry.sketch)) for id, entry in first.items()}
    hits = await find_key_hits(db, {key for each in signed.values() for key in each.keys})
    ranked = {id: rank_stories(each, hits) for id, each in signed.items()}
    stories = await read_stories(db, sorted({*ranked, *(id for found in ranked.values() for id in found)}))
    joins = await asyncio.to_thread(_find_joins, ranked, stories)
    for story_id, to_story in joins:
        await db.batch(steps_to_join_stories(story_id, to_story))
    return len(joins)


def _find_joins(ranked: dict[int, list[int]], stories: dict[int, list[StoryEntry]]) -> list[Join]:
    """Which of the stories in `ranked` join which; changes `stories` accordingly."""
    joins: list[Join] = []
    for own_id, others in ranked.items():
        own = stories.get(own_id, [])
        to_story = _find_story_for_all(own, [id for id in others if id != own_id], stories)
        if to_story is not None:
            stories[to_story] += stories.pop(own_id)
            joins.append((own_id, to_story))
    return joins


def _find_story_for_all(
    own: Sequence[StoryEntry], others: Iterable[int], stories: dict[int, list[StoryEntry]]
) -> int | None:
    """The first of the other stories that the first entry of this one belongs to, if all others do as well."""
    fitting = [id for id in others if len(own) + len(stories.get(id, ())) <= MOST_IN_STORY]
    found = find_story(own[0], fitting, stories) if own else None
    if found is None or any(find_story(entry, [found], stories) is None for entry in own[1:]):
        return None
    return found
