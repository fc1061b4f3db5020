"""Finds the stories that new entries of a refresh join, and which of them the feed had before.

An article that leaves a feed and comes soon under another guid and link is a repeat. Entries that are in a feed
together are several to its publisher.
"""

from datetime import datetime, timedelta
from typing import NamedTuple

from feedmill.collect.entries.changed_guids import LEFT_WITHIN
from feedmill.collect.stories.sign_entry import sign_entries
from feedmill.library.stories.find_stories import SignedEntry, find_stories
from feedmill.model.refresh import EntryDiff, NewEntry
from feedmill.model.stories.signature import SignedPlace, StoryEntry, StoryPlace, StorySignature
from feedmill.run_in_thread import run_in_thread_if_large
from feedmill.store.database import Database
from feedmill.store.entries.known_entries import find_which_left
from feedmill.store.search.index import text_size, tokenize_entry

# Dates of the same entry may lack seconds.
SAME_TIME = timedelta(minutes=1)


class PlacedEntry(NamedTuple):
    """A new entry of a feed, with its signature and its story."""

    entry: NewEntry
    signature: StorySignature
    place: StoryPlace

    def copies_in_other_feeds(self, feed_id: int) -> list[int]:
        """The entries of its story. Those of its own feed may be other episodes with the same words."""
        return [member.entry_id for member in self.place.story if member.feed_id != feed_id]

    def earlier_in_feed(self, feed_id: int) -> list[int]:
        """The entries of its feed that are the same article of that time.

        The time must be the same: a feed may publish the same words every hour, with another recording.
        """
        own = [member for member in self.place.story if member.feed_id == feed_id and member.entry_id]
        return [member.entry_id for member in own if abs(member.at - self.entry.date) < SAME_TIME]


async def place_new_entries(db: Database, feed_id: int, changes: EntryDiff) -> list[PlacedEntry]:
    """The new entries with their stories, which are looked up once for a refresh."""
    if not changes.places:
        signatures = await run_in_thread_if_large(text_size(changes.new), _sign, changes)
        signed = [
            SignedEntry(StoryEntry(0, feed_id, entry.date, signature.sketch), signature.keys)
            for entry, signature in zip(changes.new, signatures, strict=True)
        ]
        places = await find_stories(db, signed)
        for entry, signature, place in zip(changes.new, signatures, places, strict=True):
            changes.places[entry.guid] = SignedPlace(signature, place)
    found = [(entry, changes.places[entry.guid]) for entry in changes.new]
    return [PlacedEntry(entry, own.signature, own.place) for entry, own in found]


async def find_repeats(db: Database, feed_id: int, changes: EntryDiff, now: datetime) -> frozenset[str]:
    """The guids of the new entries that the feed had under another guid and link, until now or not long ago."""
    earlier = {each.entry.guid: each.earlier_in_feed(feed_id) for each in await place_new_entries(db, feed_id, changes)}
    ids = {id for found in earlier.values() for id in found}
    left = ids.intersection(changes.dropped)
    left |= await find_which_left(db, sorted(ids - left), now - LEFT_WITHIN)
    return frozenset(guid for guid, found in earlier.items() if not left.isdisjoint(found))


def _sign(changes: EntryDiff) -> list[StorySignature]:
    """Signs the new entries, and keeps their words for filters and the search index."""
    for entry in changes.new:
        if entry.guid not in changes.words:
            changes.words[entry.guid] = tokenize_entry(entry)
    return sign_entries(changes.new, [changes.words[entry.guid] for entry in changes.new])
