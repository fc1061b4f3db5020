"""Tries a filter before it is saved: which of the user's stored entries it matches, how many, of which feeds."""

import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime, timedelta

from feedmill.library.entries.list_entries import EntrySummary, entry_summaries
from feedmill.library.filters.stored_matches import (
    Deadline,
    MatchPage,
    StoredSearch,
    find_stored_matches,
    stored_search,
)
from feedmill.model.filters.entry_filter import FilterScope
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database
from feedmill.store.filters.stored_matches import count_matches_by_feed, is_found_by_words, window_start
from feedmill.store.subscriptions.sidebar_feeds import subscription_names_by_feed

# The newest matches that are shown.
FIRST = 100
TIME_LIMIT = timedelta(seconds=1.5)
# Up to so many matches of words are read rather than counted.
FEW = 2_000
# Entries among which matches are looked for at once, and as many more as there may be in the same second.
WINDOW = 10_000
ALL_OF_WINDOW = 1_000_000
# Entries among which matches of words are counted at once: so many first, then as many as there is time for.
COUNTED_WINDOW, LARGEST_GROWTH = 50_000, 4
# Entries whose texts are read and checked at once, because the index can't answer the condition.
READ_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class FeedMatches:
    """How many entries of a feed match; no subscription: the user has kept entries of a feed that they left."""

    subscription_id: int | None
    title: str | None
    count: int


@dataclass(frozen=True, slots=True)
class FilterTrial:
    """What a filter would have matched. `is_complete`: among all stored entries; else among those since `oldest_at`.

    `looked_at` is how many entries were read one by one, because the index can't answer the condition; else 0.
    """

    total: int
    is_complete: bool
    oldest_at: str | None
    looked_at: int
    feeds: list[FeedMatches]
    entries: list[EntrySummary]


@dataclass(frozen=True, slots=True)
class StoredCounts:
    """The number of stored entries that match by feed, as far as there was time to count; the newest of them."""

    by_feed: Mapping[int, int]
    newest_ids: list[int]
    is_complete: bool = True
    oldest_at: str | None = None
    looked_at: int = 0

    @property
    def total(self) -> int:
        return sum(self.by_feed.values())


async def try_filter(
    db: Database,
    user_id: int,
    condition: str,
    scope: FilterScope,
    now: datetime,
    limit: timedelta = TIME_LIMIT,
    clock: Callable[[], float] = time.monotonic,
) -> FilterTrial:
    """What a filter with this condition matches now; raises `BadCondition`, or `NotFound` for the scope."""
    search = await stored_search(db, user_id, condition, scope, now)
    counts = await count_stored_matches(db, user_id, search, Deadline.after(limit, clock))
    names = await subscription_names_by_feed(db, user_id, list(counts.by_feed)) if counts.by_feed else {}
    feeds = [
        FeedMatches(names[feed_id].id, names[feed_id].title, count)
        if feed_id in names
        else FeedMatches(None, None, count)
        for feed_id, count in counts.by_feed.items()
    ]
    return FilterTrial(
        counts.total,
        counts.is_complete,
        counts.oldest_at,
        counts.looked_at,
        sorted(feeds, key=lambda each: (-each.count, each.title or "")),
        await entry_summaries(db, user_id, counts.newest_ids[:FIRST]),
    )


async def count_stored_matches(db: Database, user_id: int, search: StoredSearch, deadline: Deadline) -> StoredCounts:
    """Counts the matches by feed, from the newest on until time is up."""
    if search.unindexed is not None or not is_found_by_words(db, search.indexed):
        return await _count_until(db, user_id, search, deadline)
    newest = await find_stored_matches(db, user_id, search, FEW, deadline)
    ids = [key.entry_id for key in newest.matching]
    if len(newest.found) < FEW:
        return StoredCounts(Counter(key.feed_id for key in newest.matching), ids)
    return await _count_in_windows(db, user_id, search, ids, deadline)


async def _count_in_windows(
    db: Database, user_id: int, search: StoredSearch, newest_ids: list[int], deadline: Deadline
) -> StoredCounts:
    """Counts many matches of words, in windows as large as there is time left for, the newest first."""
    counted, until, size = Counter[int](), None, COUNTED_WINDOW
    while True:
        started = deadline.clock()
        since = await window_start(db, until, size)
        counted.update(await count_matches_by_feed(db, search.between(since, until).indexed, user_id))
        now = deadline.clock()
        if since is None:
            return StoredCounts(counted, newest_ids)
        if now > deadline.at:
            return StoredCounts(counted, newest_ids, is_complete=False, oldest_at=to_iso(since))
        size, until = next_window(size, now - started, deadline.at - now), since


def next_window(size: int, took: float, left: float) -> int:
    """How many entries to count at once after a window of this size took so long: as many as there is time for."""
    return max(COUNTED_WINDOW, int(size * min(LARGEST_GROWTH, left / max(took, 0.001))))


async def _count_until(db: Database, user_id: int, search: StoredSearch, deadline: Deadline) -> StoredCounts:
    counted, newest, looked_at = Counter[int](), list[int](), 0
    started = deadline.clock()
    async with aclosing(_pages(db, user_id, search, deadline)) as pages:
        async for page, oldest_at in pages:
            counted.update(key.feed_id for key in page.matching)
            newest += [key.entry_id for key in page.matching][: FIRST - len(newest)]
            looked_at += len(page.found) if search.unindexed is not None else 0
            if page.is_cut:
                return StoredCounts(counted, newest, False, page.found[-1].position.at, looked_at)
            now = deadline.clock()
            # The next page takes about as long as this one.
            if now + (now - started) > deadline.at:
                return StoredCounts(counted, newest, oldest_at is None, oldest_at, looked_at)
            started = now
    return StoredCounts(counted, newest, looked_at=looked_at)


async def _pages(
    db: Database, user_id: int, search: StoredSearch, deadline: Deadline
) -> AsyncGenerator[tuple[MatchPage, str | None], None]:
    """Matches, the newest first, each page with the time down to which it reaches; None: it is the last.

    Those of words are found one after the other; others are looked for among all entries of a time. A page that is cut
    is the last that is of use.
    """
    if is_found_by_words(db, search.indexed):
        page = await find_stored_matches(db, user_id, search, READ_AT_ONCE, deadline)
        while len(page.found) == READ_AT_ONCE:
            yield page, page.found[-1].position.at
            page = await find_stored_matches(db, user_id, search, READ_AT_ONCE, deadline, page.found[-1].position)
        yield page, None
        return
    size, until = WINDOW if search.unindexed is None else READ_AT_ONCE, None
    while (since := await window_start(db, until, size)) is not None:
        within = search.between(since, until)
        yield await find_stored_matches(db, user_id, within, ALL_OF_WINDOW, deadline), to_iso(since)
        until = since
    yield await find_stored_matches(db, user_id, search.between(None, until), ALL_OF_WINDOW, deadline), None
