"""The unread counts of a user: by feed, folder, view, label and saved search; and whose may have changed."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from feedmill.errors import CallerError
from feedmill.library.search.run_search import SearchRequest, run_search
from feedmill.model.subscription import Folder
from feedmill.store.database import Database
from feedmill.store.entries import unread_counts as store
from feedmill.store.entries.labels import label_names
from feedmill.store.search.saved_searches import saved_searches_of
from feedmill.store.subscriptions.folders import folders_of
from feedmill.store.subscriptions.sidebar_feeds import feeds_by_folder, unread_by_subscription

MOST_COUNTED = store.MOST_COUNTED
# Matches of a saved search that are counted; how many labels and searches have a count.
MOST_MATCHES = 100
MOST_LABELS, MOST_SEARCHES = 30, 10


@dataclass(frozen=True, slots=True)
class UnreadCounts:
    """By subscription and by folder, those with unread entries only."""

    unread: int
    feeds: dict[int, int]
    folders: dict[int, int]


@dataclass(frozen=True, slots=True)
class SlowCounts:
    """Unread entries by label, and unread matches by saved search; each takes a query of its own."""

    labels: dict[int, int] = field(default_factory=dict)
    searches: dict[int, int] = field(default_factory=dict)


async def unread_counts_of_user(db: Database, user_id: int) -> UnreadCounts:
    feeds, filed, folders = await asyncio.gather(
        unread_by_subscription(db, user_id), feeds_by_folder(db, user_id), folders_of(db, user_id)
    )
    by_folder = {id: sum(feeds.get(feed, 0) for feed in within) for id, within in _feeds_within(folders, filed).items()}
    return UnreadCounts(sum(feeds.values()), feeds, {id: n for id, n in by_folder.items() if n})


def _feeds_within(folders: Sequence[Folder], filed: Mapping[int, Collection[int]]) -> dict[int, set[int]]:
    """By folder the feeds in it and in its subfolders."""
    within = {folder.id: set(filed.get(folder.id, ())) for folder in folders}
    parents = {folder.id: folder.parent_id for folder in folders}
    for folder in folders:
        above, seen = folder.parent_id, {folder.id}
        # Two concurrent moves can make a cycle; it is followed once.
        while above in within and above not in seen:
            within[above].update(filed.get(folder.id, ()))
            seen.add(above)
            above = parents[above]
    return within


async def count_today_and_later(db: Database, user_id: int, midnight: datetime, now: datetime) -> tuple[int, int]:
    """The unread entries since midnight, and all that are kept for later; at most `MOST_COUNTED` each."""
    return await asyncio.gather(store.count_unread_since(db, user_id, midnight), store.count_later(db, user_id, now))


async def count_labels_and_searches(db: Database, user_id: int, now: datetime) -> SlowCounts:
    labels = [label.id for label in (await label_names(db, user_id))[:MOST_LABELS]]
    searches = (await saved_searches_of(db, user_id))[:MOST_SEARCHES]
    return SlowCounts(
        {id: await store.count_unread_with_label(db, user_id, id) for id in labels},
        {saved.id: await _count_unread_matches(db, user_id, saved.query, now) for saved in searches},
    )


async def _count_unread_matches(db: Database, user_id: int, query: str, now: datetime) -> int:
    try:
        asked = SearchRequest(query, "date", most=MOST_MATCHES, within="is:unread")
        return len((await run_search(db, user_id, asked, now)).items)
    except CallerError:
        return 0  # a search that no longer makes sense, because its feed or label is gone


async def readers_of_new_entries(db: Database, after: int, user_ids: Collection[int]) -> tuple[int, set[int]]:
    """The newest entry, and those of these users who subscribe to a feed with entries after the given one."""
    newest = await store.newest_entry_id(db)
    return newest, await store.readers_of_entries_after(db, after, user_ids) if newest > after else set()


async def unread_sums_of_users(db: Database, user_ids: Collection[int]) -> dict[int, int]:
    return await store.unread_sums(db, user_ids)
