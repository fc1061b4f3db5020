"""The entries that are new to a program since its cursor, page by page, in the order in which they were stored."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from feedmill.library.entries.list_entries import EntrySummary, entry_summaries
from feedmill.library.entries.sync_cursor import MOST_COMPLETE, MOST_MISSING, OVERLAP, SyncCursor, first_cursor
from feedmill.model.entry_lists import ALL_ENTRIES, EntryScope
from feedmill.model.sync_query import SyncQuery
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database
from feedmill.store.entries.fill_deferred_entries import fill_deferred_or_fail
from feedmill.store.entries.sync.changed_marks import subscription_times
from feedmill.store.entries.sync.missing_ids import (
    MOST_RANGES,
    IdRange,
    ids_in,
    missing_ids,
    newest_entry_id,
    settled_id,
    to_ranges,
)
from feedmill.store.entries.sync.sync_ids import find_sync_ids


@dataclass(frozen=True, slots=True)
class NewEntries:
    """A page of new entries, and the cursor with which to go on: at once if there are `more`."""

    items: list[EntrySummary]
    cursor: SyncCursor
    more: bool


class _Moment(NamedTuple):
    """What was stored when the request began: no page goes beyond `newest_id`, and `missing` ones may follow."""

    newest_id: int
    settled_id: int
    missing: list[IdRange]
    subscribed: dict[int, str]
    since: str


class _Part(NamedTuple):
    ids: list[int]
    cursor: SyncCursor
    is_last: bool


async def new_entries(db: Database, user_id: int, cursor: SyncCursor, most: int, now: datetime) -> NewEntries:
    """Up to `most` entries that the program does not have: none is left out, and hardly one comes twice."""
    found: list[int] = []
    moment = await _read_moment(db, user_id, cursor.last_id, now)
    for read_part in (_stored_late, _of_new_subscriptions, _after_last_id):
        part = await read_part(db, user_id, cursor, moment, most - len(found))
        cursor, is_last = part.cursor, part.is_last
        found += part.ids
        if not is_last:
            break
    if found:
        # Those that were deferred since the request began would be listed as read, and never again.
        await fill_deferred_or_fail(db, user_id)
    return NewEntries(await entry_summaries(db, user_id, list(dict.fromkeys(found))), cursor, not is_last)


async def cursor_of_now(db: Database, user_id: int, now: datetime) -> SyncCursor:
    """The cursor of a program that reads everything that it wants of the present by itself."""
    moment = await _read_moment(db, user_id, 0, now)
    return _advance(_complete(first_cursor(now), moment), moment, moment.newest_id)


async def _read_moment(db: Database, user_id: int, last_id: int, now: datetime) -> _Moment:
    # In this order: what is stored after the newest id was read is either missing, or found by the page.
    settled, newest = await settled_id(db, now), await newest_entry_id(db)
    missing = await missing_ids(db, max(last_id, settled), newest)
    return _Moment(newest, settled, missing, await subscription_times(db, user_id), to_iso(now - OVERLAP))


async def _stored_late(db: Database, user_id: int, cursor: SyncCursor, moment: _Moment, most: int) -> _Part:
    """Entries below `last_id` that were not stored yet when it was reached."""
    missing = ids_in(cursor.missing)
    query = SyncQuery(among=tuple(missing), oldest_first=True)
    ids, is_last = await _page(db, user_id, query, most) if missing else ([], True)
    left = set(missing).difference(ids)
    if is_last:
        left = {id for id in left if id > moment.settled_id}
    cut = _keep_missing(cursor, to_ranges(left))
    return _Part(ids, cut, is_last and cut.last_id == cursor.last_id)


async def _of_new_subscriptions(db: Database, user_id: int, cursor: SyncCursor, moment: _Moment, most: int) -> _Part:
    """Entries below `last_id` of feeds that other users had already."""
    made_since = [id for id, at in moment.subscribed.items() if at >= cursor.subscribed_at]
    new = tuple(id for id in made_since if not any(first <= id <= last for first, last in cursor.complete))
    if not new:
        return _Part([], _complete(cursor, moment), True)
    # From the beginning if another one was made between two pages: of that one the program has nothing.
    filled_to = cursor.filled_to if cursor.newest_filled == max(new) else 0
    query = SyncQuery(EntryScope(new), after_id=filled_to, before_id=cursor.last_id + 1, oldest_first=True)
    ids, is_last = await _page(db, user_id, query, most)
    if is_last:
        return _Part(ids, _complete(cursor, moment), True)
    return _Part(ids, replace(cursor, filled_to=ids[-1] if ids else filled_to, newest_filled=max(new)), False)


async def _after_last_id(db: Database, user_id: int, cursor: SyncCursor, moment: _Moment, most: int) -> _Part:
    query = SyncQuery(ALL_ENTRIES, after_id=cursor.last_id, before_id=moment.newest_id + 1, oldest_first=True)
    ids, is_last = await _page(db, user_id, query, most)
    reached = moment.newest_id if is_last else ids[-1] if ids else cursor.last_id
    advanced = _advance(cursor, moment, reached)
    # If too much is missing, the program asks again later: it would get the same page now.
    return _Part(ids, advanced, is_last or advanced.last_id < reached)


async def _page(db: Database, user_id: int, query: SyncQuery, most: int) -> tuple[list[int], bool]:
    """The first ids, and whether there are no others."""
    found = await find_sync_ids(db, user_id, replace(query, most=most + 1))
    return found[:most], len(found) <= most


def _complete(cursor: SyncCursor, moment: _Moment) -> SyncCursor:
    """The program has all entries up to `last_id` of all subscriptions that were seen."""
    recent = to_ranges(id for id, at in moment.subscribed.items() if at >= moment.since)
    return replace(cursor, subscribed_at=moment.since, complete=recent[-MOST_COMPLETE:], filled_to=0, newest_filled=0)


def _keep_missing(cursor: SyncCursor, left: tuple[IdRange, ...]) -> SyncCursor:
    """Ranges split where some of their ids are stored. What is above those that a cursor holds is read again."""
    if len(left) <= MOST_RANGES:
        return replace(cursor, missing=left)
    return replace(cursor, missing=left[:MOST_RANGES], last_id=left[MOST_RANGES][0] - 1)


def _advance(cursor: SyncCursor, moment: _Moment, reached: int) -> SyncCursor:
    """Notes which ids up to `reached` are missing. Where they are too many it stops, and the rest is read again."""
    reached, missing = max(cursor.last_id, reached), list(cursor.missing)
    count = sum(last - first + 1 for first, last in missing)
    for first, last in moment.missing:
        if not cursor.last_id < first <= reached:
            continue
        count += min(last, reached) - first + 1
        if len(missing) == MOST_RANGES or count > MOST_MISSING:
            reached = first - 1
            break
        missing.append((first, min(last, reached)))
    return replace(cursor, last_id=reached, missing=tuple(missing))
