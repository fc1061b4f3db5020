"""Finds the list of an output feed and its entries, if the user has a right to it.

Folders, feeds, all entries, filters and pool groups are in the order in which entries arrived, and starred entries
and those for later in the order in which they were marked, so that a program that reads the first page from time to
time misses nothing. Labels and searches are ordered by date, as their pages are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from feedmill.errors import NotFound
from feedmill.i18n.messages import Message
from feedmill.library.cursors import cursor_at, from_cursor, key_at, to_cursor
from feedmill.library.entries.labels import find_label, label_names_of_user
from feedmill.library.entries.scopes import find_scope
from feedmill.library.filters.manage_filters import filters_of_user, find_filter
from feedmill.library.search.run_search import parse_search
from feedmill.library.search.saved_searches import saved_searches_of_user
from feedmill.library.subscriptions.folders import find_folder, folder_paths, folders_of_user
from feedmill.library.subscriptions.lookup import find_subscription
from feedmill.model.entry_lists import ALL_ENTRIES, EntryOrder, EntryScope, EntryView, ListPosition
from feedmill.model.max_id import MAX_ID
from feedmill.model.search_query import SavedSearch
from feedmill.model.syndication.output_feed import OutputList, OutputListKind
from feedmill.model.timestamps import from_iso
from feedmill.model.user import POOLS, Caller
from feedmill.store.database import Database
from feedmill.store.entries.list_pages import LIST_STARTS, ListRange, find_positions
from feedmill.store.filters.effects import hits_of_filter
from feedmill.store.output_feeds.arrivals import newest_arrivals
from feedmill.store.output_feeds.pool_group_entries import newest_pool_group_entries
from feedmill.store.pools.grants import pool_access
from feedmill.store.pools.groups import all_groups
from feedmill.store.search.find_entries import find_newest_matches

ORDERED_BY_MARK = {OutputListKind.STARRED: EntryView.STARRED, OutputListKind.LATER: EntryView.LATER}


class OutputPosition(NamedTuple):
    """An entry of a list, and the cursor with which the page after it begins."""

    entry_id: int
    cursor: str


@dataclass(frozen=True, slots=True)
class OutputListName:
    """A list that a user can make an output feed of. `name` is None for a list that has no name of its own."""

    list: OutputList
    name: str | None = None


async def find_list_name(db: Database, who: Caller, wanted: OutputList) -> str | None:
    """The name of the list, None if it has none of its own; raises `NotFound` unless the caller has a right to it."""
    match wanted.kind:
        case OutputListKind.ALL | OutputListKind.STARRED | OutputListKind.LATER:
            return None
        case OutputListKind.FEED:
            return await _feed_title(db, who.user.id, wanted.id)
        case OutputListKind.FOLDER:
            return (await find_folder(db, who.user.id, wanted.id)).name
        case OutputListKind.LABEL:
            return (await find_label(db, who.user.id, wanted.id)).name
        case OutputListKind.SEARCH:
            return (await _find_search(db, who.user.id, wanted.id)).name
        case OutputListKind.FILTER:
            return (await find_filter(db, who.user.id, wanted.id)).name
        case OutputListKind.POOL:
            return await _pool_group_name(db, who, wanted.id)


async def available_lists(db: Database, who: Caller) -> list[OutputListName]:
    """The lists that the caller can make output feeds of, but for single feeds, which may be thousands."""
    kinds = OutputListKind
    paths = folder_paths(await folders_of_user(db, who.user.id))
    folders = [OutputListName(OutputList(kinds.FOLDER, id), " / ".join(path)) for id, path in paths.items()]
    labels = [
        OutputListName(OutputList(kinds.LABEL, label.id), label.name)
        for label in await label_names_of_user(db, who.user.id)
    ]
    searches = [
        OutputListName(OutputList(kinds.SEARCH, search.id), search.name)
        for search in await saved_searches_of_user(db, who.user.id)
    ]
    filters = [
        OutputListName(OutputList(kinds.FILTER, each.id), each.name) for each in await filters_of_user(db, who.user.id)
    ]
    pools = [OutputListName(OutputList(kinds.POOL, id), name) for id, name in (await _pool_groups(db, who)).items()]
    unnamed = [OutputListName(OutputList(kind)) for kind in (kinds.ALL, kinds.STARRED, kinds.LATER)]
    return [*unnamed, *folders, *labels, *searches, *filters, *pools]


async def find_list_page(
    db: Database, who: Caller, wanted: OutputList, cursor: str | None, most: int, now: datetime
) -> list[OutputPosition]:
    """Up to `most` entries of the list after the cursor; raises `NotFound`, also for a cursor that is not valid."""
    user_id = who.user.id
    match wanted.kind:
        case OutputListKind.ALL:
            return await _by_arrival(db, user_id, ALL_ENTRIES, cursor, most)
        case OutputListKind.FEED:
            return await _by_arrival(db, user_id, await find_scope(db, user_id, wanted.id, None, None), cursor, most)
        case OutputListKind.FOLDER:
            return await _by_arrival(db, user_id, await find_scope(db, user_id, None, wanted.id, None), cursor, most)
        case OutputListKind.STARRED | OutputListKind.LATER:
            return await _by_time(db, user_id, ORDERED_BY_MARK[wanted.kind], ALL_ENTRIES, cursor, most, now)
        case OutputListKind.LABEL:
            scope = await find_scope(db, user_id, None, None, wanted.id)
            return await _by_time(db, user_id, EntryView.ALL, scope, cursor, most, now)
        case OutputListKind.SEARCH:
            search = await _find_search(db, user_id, wanted.id)
            return await _matches(db, user_id, search, cursor, most, now)
        case OutputListKind.FILTER:
            await find_filter(db, user_id, wanted.id)
            hits = await hits_of_filter(db, user_id, wanted.id, _before_id(cursor), most)
            return _at_ids([hit.entry_id for hit in hits])
        case OutputListKind.POOL:
            await _pool_group_name(db, who, wanted.id)
            return _at_ids(await newest_pool_group_entries(db, wanted.id, _before_id(cursor), most))


async def _by_arrival(
    db: Database, user_id: int, scope: EntryScope, cursor: str | None, most: int
) -> list[OutputPosition]:
    return _at_ids(await newest_arrivals(db, user_id, scope, _before_id(cursor), most))


async def _by_time(
    db: Database, user_id: int, view: EntryView, scope: EntryScope, cursor: str | None, most: int, now: datetime
) -> list[OutputPosition]:
    order = EntryOrder.NEWEST
    beyond = from_cursor(cursor) if cursor else LIST_STARTS[order]
    return _at_positions(await find_positions(db, user_id, ListRange(view, scope, order, beyond, most), now))


async def _matches(
    db: Database, user_id: int, search: SavedSearch, cursor: str | None, most: int, now: datetime
) -> list[OutputPosition]:
    condition = await parse_search(db, user_id, search.query, now)
    below = _checked(from_cursor(cursor)) if cursor else None
    found = await find_newest_matches(db, condition, user_id, most, below)
    return _at_positions([ListPosition(entry.sort_at, id) for id, entry in found.items() if entry is not None])


def _before_id(cursor: str | None) -> int:
    return key_at(cursor, int) if cursor else MAX_ID


def _checked(place: ListPosition) -> ListPosition:
    """The position, whose time the search reads; raises `NotFound` for one such as that of February 30."""
    try:
        from_iso(place.at)
    except ValueError:
        raise NotFound(Message("error.bad_cursor")) from None
    return place


def _at_ids(ids: Sequence[int]) -> list[OutputPosition]:
    return [OutputPosition(id, cursor_at(id)) for id in ids]


def _at_positions(places: Sequence[ListPosition]) -> list[OutputPosition]:
    return [OutputPosition(place.entry_id, to_cursor(place)) for place in places]


async def _feed_title(db: Database, user_id: int, subscription_id: int) -> str | None:
    """The title of the feed. Not its URL, which may contain a secret and would be in the output feed."""
    feed = await find_subscription(db, user_id, subscription_id)
    return None if feed.title == feed.url else feed.title


async def _find_search(db: Database, user_id: int, search_id: int) -> SavedSearch:
    found = [search for search in await saved_searches_of_user(db, user_id) if search.id == search_id]
    if not found:
        raise NotFound(Message("error.no_such_search"))
    return found[0]


async def _pool_groups(db: Database, who: Caller) -> dict[int, str]:
    """By id the names of the groups that the caller may take from."""
    if POOLS not in who.scopes:
        return {}
    access = await pool_access(db, who)
    return {group.id: group.name for group in await all_groups(db) if access.allows(group.id)}


async def _pool_group_name(db: Database, who: Caller, group_id: int) -> str:
    name = (await _pool_groups(db, who)).get(group_id)
    if name is None:
        raise NotFound(Message("error.no_such_output_list"))
    return name
