"""Joins the new entries of a refresh to their stories, in its atomic write.

An entry whose story a user has read in another feed is not unread for that user. An article that leaves a feed and
comes at once under another guid and link is unread for nobody. Entries that are in a feed together are several to its
publisher, so each of them is unread.
"""

from collections.abc import Container, Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

from feedmill.collect.stories.sign_entry import sign_entries
from feedmill.i18n.messages import Message
from feedmill.library.stories.find_stories import SignedEntry, StoryPlace, find_stories
from feedmill.library.users.preferences import shows_stories_once
from feedmill.model.feed import Claim
from feedmill.model.refresh import EntryDiff, NewEntry, RefreshDecision, Updated
from feedmill.model.stories.signature import StoryEntry, StorySignature
from feedmill.run_in_thread import run_in_thread_if_large
from feedmill.store.database import Database, Step
from feedmill.store.entries.fill_deferred_entries import steps_to_fill_subscriptions
from feedmill.store.feeds.fetch_log import step_to_set_log_message
from feedmill.store.search.index import text_size, tokenize_entry
from feedmill.store.stories.drop_read_copies import (
    steps_to_drop_deferred,
    steps_to_drop_unread,
    steps_to_drop_unread_of,
)
from feedmill.store.stories.index_new_entries import IndexedEntry, steps_to_index_new_entries
from feedmill.store.stories.story_reading import StoryReading, reading_of_subscribers

# Dates of the same entry may lack seconds.
SAME_TIME = timedelta(minutes=1)


class _PlacedEntry(NamedTuple):
    """A new entry of a feed, with its signature and its story."""

    entry: NewEntry
    signature: StorySignature
    place: StoryPlace

    def repeats(self, dropped: Container[int]) -> bool:
        """Whether it is the same article of that time as one that has just left the feed.

        The time must be the same: a feed may publish the same words every hour, with another recording.
        """
        return any(
            member.entry_id in dropped and abs(member.at - self.entry.date) < SAME_TIME for member in self.place.story
        )

    def copies_in_other_feeds(self, feed_id: int) -> list[int]:
        """The entries of its story. Those of its own feed may be other episodes with the same words."""
        return [member.entry_id for member in self.place.story if member.feed_id != feed_id]


async def story_writes(db: Database, claim: Claim, decision: RefreshDecision, /) -> Sequence[Step]:
    """The steps that index the new entries of a refresh, join them to stories and keep read stories read."""
    if not isinstance(decision, Updated) or not decision.changes.new:
        return ()
    feed_id, changes = claim.feed.id, decision.changes
    placed = await _place(db, feed_id, changes)
    dropped = frozenset(changes.dropped)
    repeated = {each.entry.guid for each in placed if each.repeats(dropped)}
    copies = {
        each.entry.guid: found
        for each in placed
        if each.entry.guid not in repeated and (found := each.copies_in_other_feeds(feed_id))
    }
    read = await _read_guids(db, feed_id, copies)
    deferred = decision.defers_unread
    return [
        *steps_to_index_new_entries(db.dialect_name, feed_id, [_indexed(each) for each in placed]),
        *(steps_to_fill_subscriptions(feed_id, read) if deferred else ()),
        *(steps_to_drop_deferred if deferred else steps_to_drop_unread)(feed_id, sorted(repeated)),
        *steps_to_drop_unread_of(feed_id, read),
        *(_log_repeated(feed_id, decision, len(repeated)) if repeated else ()),
    ]


async def _place(db: Database, feed_id: int, changes: EntryDiff) -> list[_PlacedEntry]:
    new = changes.new
    signatures = await run_in_thread_if_large(text_size(new), _sign, changes)
    signed = [
        SignedEntry(StoryEntry(0, feed_id, entry.date, signature.sketch), signature.keys)
        for entry, signature in zip(new, signatures, strict=True)
    ]
    return [_PlacedEntry(*each) for each in zip(new, signatures, await find_stories(db, signed), strict=True)]


def _sign(changes: EntryDiff) -> list[StorySignature]:
    """Signs the new entries, and keeps their words for the search index."""
    for entry in changes.new:
        if entry.guid not in changes.words:
            changes.words[entry.guid] = tokenize_entry(entry)
    return sign_entries(changes.new, [changes.words[entry.guid] for entry in changes.new])


def _indexed(placed: _PlacedEntry) -> IndexedEntry:
    entry, signature, place = placed
    return IndexedEntry(entry.guid, entry.date, signature.sketch, place.keys, place.story_id)


async def _read_guids(db: Database, feed_id: int, copies: Mapping[str, Sequence[int]]) -> Mapping[int, Sequence[str]]:
    """By subscription the new entries whose stories its user has read; `copies` has the stored entries by guid."""
    ids = sorted({id for found in copies.values() for id in found})
    reading: dict[int, list[StoryReading]] = {id: [] for id in ids}
    for one in await reading_of_subscribers(db, feed_id, ids) if ids else ():
        reading[one.entry_id].append(one)
    found: dict[int, list[str]] = {}
    for guid, entry_ids in copies.items():
        for subscription_id in _have_read([one for id in entry_ids for one in reading[id]]):
            found.setdefault(subscription_id, []).append(guid)
    return found


def _have_read(reading: Sequence[StoryReading]) -> set[int]:
    """The subscriptions whose users have read an entry of a story and have none of it unread."""
    still_unread = {one.subscription_id for one in reading if one.is_unread}
    return {one.subscription_id for one in reading if shows_stories_once(one.settings)} - still_unread


def _log_repeated(feed_id: int, decision: Updated, repeated: int) -> Sequence[Step]:
    if decision.truncated:
        return ()
    count = repeated + len(decision.changes.changed_guids)
    return [step_to_set_log_message(feed_id, decision.stats.at, Message("fetch.repeated", n=count))]
