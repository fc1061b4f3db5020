"""Lists entries page by page.

Entries are structs, because creating fifty dataclasses with so many fields takes longer than the query.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from msgspec import Struct

from feedmill.html.plain_text import cut_text, plain_text
from feedmill.html.tracking_parameters import without_trackers
from feedmill.library.cursors import to_list_cursor
from feedmill.model.entry_lists import (
    ALL_ENTRIES,
    EntryOrder,
    EntryScope,
    EntryView,
    ListCursor,
    ListPosition,
    RaisedRange,
)
from feedmill.model.entry_marks import EntryLabel
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database
from feedmill.store.entries.count_new import count_new_entries
from feedmill.store.entries.list_pages import LIST_STARTS, ListRange, find_entry_page, newest_listed_id
from feedmill.store.entries.visible_entries import ListedEntry, read_listed_entries
from feedmill.store.filters.raised_entries import MOST_LOOKED_AT, find_raised, raised_until
from feedmill.store.stories.read_copies import find_unread_copies

LONGEST_EXCERPT = 300
LONGEST_SUMMARY = 1000
# More than these stay at their places.
MOST_RAISED = 50


class EntrySummary(Struct, frozen=True, gc=False):
    """An entry as a list shows it; its link has no tracking parameters.

    No `subscription_id`: the user no longer subscribes to the feed.
    """

    id: int
    feed_id: int
    guid: str
    subscription_id: int | None
    feed_title: str | None
    title: str
    link: str | None
    author: str | None
    excerpt: str
    summary: str | None
    image_url: str | None
    language: str | None
    published_at: str
    undated: bool
    sort_at: str
    created_at: str
    unread: bool
    read_at: str | None
    starred: bool
    later: bool
    later_until: str | None
    raised: bool
    labels: tuple[EntryLabel, ...]
    revisions: int


@dataclass(frozen=True, slots=True)
class EntryListQuery:
    """A page of a list, after the position where the last page ended. It has no entries older than `since`.

    `stories_once`: of the entries of a story that are in the list, only the first is shown. `raised_first`: so many of
    the entries that filters raised come first, if it is a list of unread entries; after them, `raised` says which they
    were, and the other pages leave them out.
    """

    view: EntryView = EntryView.UNREAD
    scope: EntryScope = ALL_ENTRIES
    order: EntryOrder = EntryOrder.NEWEST
    beyond: ListPosition | None = None
    most: int = 50
    since: datetime | None = None
    stories_once: bool = False
    raised_first: int = 0
    raised: RaisedRange | None = None

    @property
    def start(self) -> ListPosition:
        """The position before the first entry."""
        first = LIST_STARTS[self.order]
        return first if self.since is None or self.order is EntryOrder.NEWEST else ListPosition(to_iso(self.since), 0)

    @property
    def oldest(self) -> str:
        """The time of the oldest entry that the list may have; empty: no limit."""
        return "" if self.since is None else to_iso(self.since)

    def beyond_place(
        self, place: ListPosition, most: int, order: EntryOrder | None = None, without: Iterable[int] = ()
    ) -> ListRange:
        """The part of the list after a position, in its own order or in another one."""
        in_order, once = order or self.order, self.stories_once
        return ListRange(self.view, self.scope, in_order, place, most, once, frozenset(without), self.oldest)


class EntryListPage(Struct, frozen=True):
    """`next` is None on the last page. `as_of` is the newest entry of the instance when the page was read.

    The first `raised_count` items are shown first because filters raised them.
    """

    items: list[EntrySummary]
    next: str | None
    as_of: int
    raised_count: int = 0


async def list_entries(db: Database, user_id: int, query: EntryListQuery, now: datetime) -> EntryListPage:
    """A page of a list."""
    if query.beyond is not None:
        return await _page_beyond(db, user_id, query, query.beyond, now)
    raised = await raised_of_list(db, user_id, query, now)
    first = await entry_summaries(db, user_id, raised.ids)
    rest = replace(query, most=max(query.most - len(first), 0), raised=raised.range)
    page = await _page_beyond(db, user_id, rest, query.start, now, raised.copies)
    return EntryListPage([*first, *page.items], page.next, page.as_of, len(first))


async def _page_beyond(
    db: Database,
    user_id: int,
    query: EntryListQuery,
    beyond: ListPosition,
    now: datetime,
    copies: frozenset[int] | None = None,
) -> EntryListPage:
    """The entries after a position, without those that the list showed first, and their copies.

    `copies` are given for the first page, which knows them.
    """
    without: frozenset[int] = frozenset()
    if query.raised:
        if copies is None:
            copies = await _copies_of_raised(db, user_id, query, query.raised, now)
        without = copies | await raised_until(db, user_id, query.raised, query.order)
    # One more than the page has, to know whether there is a next page.
    following = query.beyond_place(beyond, query.most + 1, without=without)
    found = await find_entry_page(db, user_id, following, now)
    places = [(place, entry) for place, entry in found.places if place.at >= query.oldest]
    shown = places[: query.most]
    last = shown[-1][0] if shown else beyond
    next_page = to_list_cursor(ListCursor(last, query.raised)) if len(places) > query.most else None
    return EntryListPage(to_summaries(entry for _, entry in shown), next_page, found.newest_id)


async def _copies_of_raised(
    db: Database, user_id: int, query: EntryListQuery, raised: RaisedRange, now: datetime
) -> frozenset[int]:
    """The unread copies of what the first page of the list began with, if the list shows each story once."""
    if not query.stories_once:
        return frozenset()
    beginning = query.beyond_place(query.start, MOST_LOOKED_AT)
    found = await find_raised(db, user_id, beginning, now, raised.until)
    first = [each.entry_id for each in found if not each.is_beyond(raised.last, query.order)]
    return frozenset(await find_unread_copies(db, user_id, first))


@dataclass(frozen=True, slots=True)
class RaisedEntries:
    """The entries that a list shows first, in its order. It shows up to `most`, which filters had raised by `until`.

    `copies` are the other unread entries of their stories, if the list shows each story once.
    """

    positions: Sequence[ListPosition] = ()
    most: int = 0
    until: str = ""
    copies: frozenset[int] = frozenset()

    @property
    def ids(self) -> list[int]:
        return [each.entry_id for each in self.positions]

    @property
    def left_out(self) -> frozenset[int]:
        """What the list does not show at its place."""
        return self.copies.union(self.ids)

    @property
    def range(self) -> RaisedRange | None:
        return RaisedRange(self.positions[-1], min(self.ids), self.until) if self.positions else None

    @property
    def last_id(self) -> int | None:
        return self.positions[-1].entry_id if self.positions else None

    def around(self, place: ListPosition, order: EntryOrder) -> tuple[int | None, int | None]:
        """The entries of these before and after a position."""
        before = [each.entry_id for each in self.positions if place.is_beyond(each, order)]
        after = [each.entry_id for each in self.positions if each.is_beyond(place, order)]
        return (before[-1] if before else None), (after[0] if after else None)

    def has_place_for(self, place: ListPosition, order: EntryOrder) -> bool:
        """Whether a raised entry with this position would be one of them if it were unread."""
        if len(self.positions) < self.most:
            return True
        return bool(self.positions) and not place.is_beyond(self.positions[-1], order)


async def raised_of_list(db: Database, user_id: int, query: EntryListQuery, now: datetime) -> RaisedEntries:
    """The entries that the list shows first."""
    if not query.raised_first or query.view is not EntryView.UNREAD:
        return RaisedEntries()
    beginning = query.beyond_place(query.start, query.raised_first)
    found = await find_raised(db, user_id, beginning, now)
    ids = [each.entry_id for each in found] if query.stories_once else []
    copies = await find_unread_copies(db, user_id, ids)
    return RaisedEntries(found, query.raised_first, to_iso(now), frozenset(copies))


async def list_raised(db: Database, user_id: int, query: EntryListQuery, now: datetime) -> EntryListPage:
    """A page of the unread entries of a list that filters raised."""
    following = query.beyond_place(query.beyond or query.start, query.most + 1)
    found = await find_raised(db, user_id, following, now)
    shown = found[: query.most]
    items = await entry_summaries(db, user_id, [each.entry_id for each in shown])
    next_page = to_list_cursor(ListCursor(shown[-1])) if len(found) > query.most else None
    return EntryListPage(items, next_page, await newest_listed_id(db, user_id), len(items))


async def count_news(db: Database, user_id: int, wanted: EntryListQuery, after: int) -> int:
    """How many unread entries of the list arrived after it was read: after the entry that was its `as_of`."""
    return await count_new_entries(db, user_id, wanted.scope, after, wanted.since, stories_once=wanted.stories_once)


async def entry_summaries(db: Database, user_id: int, ids: Sequence[int]) -> list[EntrySummary]:
    """These entries as lists show them, in the same order, without those that the user may not see."""
    if not ids:
        return []
    found = await read_listed_entries(db, user_id, ids)
    return to_summaries(found.get(id) for id in ids)


def to_summaries(listed: Iterable[ListedEntry | None]) -> list[EntrySummary]:
    """The entries as lists show them, without those that the user may not see."""
    return [_to_summary(entry) for entry in listed if entry is not None]


def _to_summary(entry: ListedEntry) -> EntrySummary:
    summary = one_line(entry.beginning, LONGEST_SUMMARY) if entry.has_summary else None
    return EntrySummary(
        id=entry.id,
        feed_id=entry.feed_id,
        guid=entry.guid,
        subscription_id=entry.subscription_id,
        feed_title=entry.feed_title,
        title=one_line(entry.title),
        link=shown_link(entry.link),
        author=entry.author,
        excerpt=one_line(entry.beginning, LONGEST_EXCERPT) if summary is None else cut_text(summary, LONGEST_EXCERPT),
        summary=summary,
        image_url=entry.image_url,
        language=entry.language,
        published_at=entry.published_at,
        undated=entry.undated,
        sort_at=entry.sort_at,
        created_at=entry.first_seen_at,
        unread=entry.is_unread,
        read_at=entry.read_at,
        starred=entry.starred_at is not None,
        later=entry.later_at is not None,
        later_until=entry.later_until,
        raised=entry.is_raised,
        labels=entry.labels,
        revisions=entry.revision_count,
    )


def shown_link(link: str | None) -> str | None:
    """The link of an entry as it is shown: without tracking parameters."""
    return without_trackers(link) if link else link


def one_line(text: str | None, limit: int | None = None) -> str:
    """A title or excerpt that may contain HTML, as one line of plain text."""
    if not text:
        return ""
    if "<" in text or "&" in text or (limit is not None and len(text) > limit):
        return plain_text(text, limit)
    return " ".join(text.split())
