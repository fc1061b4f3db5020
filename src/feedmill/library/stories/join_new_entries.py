"""Joins the new entries of a refresh to their stories, in its atomic write.

An entry whose story a user has read in another feed is not unread for that user. One that repeats an article of its
feed is unread for nobody.
"""

from collections.abc import Mapping, Sequence

from feedmill.i18n.messages import Message
from feedmill.library.stories.place_new_entries import PlacedEntry, find_repeats, place_new_entries
from feedmill.library.users.preferences import shows_stories_once
from feedmill.model.feed import Claim
from feedmill.model.refresh import RefreshDecision, Updated
from feedmill.store.database import Database, Step
from feedmill.store.entries.fill_deferred_entries import steps_to_fill_subscriptions
from feedmill.store.feeds.fetch_log import step_to_set_log_message
from feedmill.store.stories.drop_read_copies import (
    steps_to_drop_deferred,
    steps_to_drop_unread,
    steps_to_drop_unread_of,
)
from feedmill.store.stories.index_new_entries import IndexedEntry, steps_to_index_new_entries
from feedmill.store.stories.story_reading import StoryReading, reading_of_subscribers


async def story_writes(db: Database, claim: Claim, decision: RefreshDecision, /) -> Sequence[Step]:
    """The steps that index the new entries of a refresh, join them to stories and keep read stories read."""
    if not isinstance(decision, Updated) or not decision.changes.new:
        return ()
    feed_id, changes = claim.feed.id, decision.changes
    placed = await place_new_entries(db, feed_id, changes)
    repeated = await find_repeats(db, feed_id, changes, decision.stats.at)
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


def _indexed(placed: PlacedEntry) -> IndexedEntry:
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
