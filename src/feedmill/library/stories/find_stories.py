"""Finds the stories that entries join, with work that is bounded whatever feeds contain.

An entry joins a story only if it is the same article as each of its entries, by comparison with each. So any two
entries of a story are the same article, and no feed can join two articles of others by an entry that is like both.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from feedmill.collect.stories.same_story import find_same_story
from feedmill.model.stories.signature import STORY_WINDOW, StoryEntry, StoryPlace
from feedmill.model.timestamps import to_iso
from feedmill.run_in_thread import run_in_thread_if_large
from feedmill.store.chunks import chunked
from feedmill.store.database import Database
from feedmill.store.stories.story_index import KeyHit, find_key_hits, read_stories

# A key that so many entries share says nothing: it is not stored for more of them.
MOST_PER_KEY = 50
# Of one feed, so that no feed alone can use up a key.
MOST_PER_KEY_AND_FEED = 4
# Stories that an entry is compared with, and entries of one story.
MOST_COMPARED = 8
MOST_IN_STORY = 50

KeyHits = Mapping[int, Sequence[KeyHit]]


@dataclass(frozen=True, slots=True)
class SignedEntry:
    """An entry with the keys of its signature."""

    entry: StoryEntry
    keys: Sequence[int]


async def find_stories(db: Database, signed: Sequence[SignedEntry]) -> list[StoryPlace]:
    """For each entry its story. Entries that come first in `signed` join first."""
    room, stories, places = KeyRoom(), dict[int, list[StoryEntry]](), list[StoryPlace]()
    for chunk in chunked(signed):
        hits = await find_key_hits(db, {key for each in chunk for key in each.keys})
        ranked = [rank_stories(each, hits) for each in chunk]
        stories = await read_stories(db, sorted({id for ids in ranked for id in ids} - stories.keys())) | stories
        room.note(hits)
        size = sum(len(member.sketch) for ids in ranked for id in ids for member in stories.get(id, ()))
        places += await run_in_thread_if_large(size, _places, chunk, ranked, stories, room)
    return places


def rank_stories(signed: SignedEntry, hits: KeyHits) -> list[int]:
    """The stories with entries of about the same date that share keys with this one, those that share most first."""
    entry = signed.entry
    found = [hit for key in signed.keys for hit in hits.get(key, ()) if hit.entry_id != entry.entry_id]
    if not found:
        return []
    since, until = to_iso(entry.at - STORY_WINDOW), to_iso(entry.at + STORY_WINDOW)
    shared = Counter(hit.story_id for hit in found if since <= hit.at <= until)
    return sorted(shared, key=lambda id: (-shared[id], id))[:MOST_COMPARED]


def find_story(entry: StoryEntry, ranked: Iterable[int], stories: Mapping[int, Sequence[StoryEntry]]) -> int | None:
    """The first of these stories all of whose entries are the same article as this one, if it has room."""
    open_stories = {id: stories[id] for id in ranked if 0 < len(stories.get(id, ())) < MOST_IN_STORY}
    if not open_stories:
        return None
    # All at once: what many entries of one feed have in common with it says nothing.
    same = set(find_same_story(entry, [member for story in open_stories.values() for member in story]))
    return next((id for id, story in open_stories.items() if same.issuperset(story)), None)


def _places(
    signed: Sequence[SignedEntry],
    ranked: Sequence[Sequence[int]],
    stories: dict[int, list[StoryEntry]],
    room: "KeyRoom",
) -> list[StoryPlace]:
    return [_place(each, ids, stories, room) for each, ids in zip(signed, ranked, strict=True)]


def _place(
    signed: SignedEntry, ranked: Sequence[int], stories: dict[int, list[StoryEntry]], room: "KeyRoom"
) -> StoryPlace:
    keys, id = room.take(signed), find_story(signed.entry, ranked, stories)
    if id is None:
        return StoryPlace(None, keys)
    found = StoryPlace(id, keys, tuple(stories[id]))
    # The next entry of the same document must be like this one, too.
    stories[id].append(signed.entry)
    return found


class KeyRoom:
    """Counts the entries that have a key, of all feeds and of one."""

    def __init__(self) -> None:
        self._entries = defaultdict[int, int](int)
        self._of_feed = defaultdict[tuple[int, int], int](int)

    def note(self, hits: KeyHits) -> None:
        """Counts the stored entries of keys that were not counted before."""
        for key in hits.keys() - self._entries.keys():
            for hit in hits[key]:
                self._count(key, hit.feed_id)

    def take(self, signed: SignedEntry) -> tuple[int, ...]:
        """Those keys of the entry that have room for it."""
        feed_id = signed.entry.feed_id
        free = tuple([key for key in signed.keys if self._has_room(key, feed_id)])
        for key in free:
            self._count(key, feed_id)
        return free

    def _count(self, key: int, feed_id: int) -> None:
        self._entries[key] += 1
        self._of_feed[key, feed_id] += 1

    def _has_room(self, key: int, feed_id: int) -> bool:
        return self._entries[key] < MOST_PER_KEY and self._of_feed[key, feed_id] < MOST_PER_KEY_AND_FEED
