"""A page of a list around one of its entries: where a reader was."""

from dataclasses import replace
from datetime import datetime

import msgspec

from feedmill.library.entries.article import find_entry, list_time
from feedmill.library.entries.list_entries import (
    EntryListPage,
    EntryListQuery,
    EntrySummary,
    entry_summaries,
    list_entries,
    raised_of_list,
    to_summaries,
)
from feedmill.model.entry_lists import EntryOrder, ListPosition
from feedmill.store.database import Database
from feedmill.store.entries.list_pages import REVERSE_ORDER, find_entry_page
from feedmill.store.entries.visible_entries import VisibleEntry


class PageAround(EntryListPage, frozen=True):
    """A page around an entry. `has_earlier`: the list begins before it."""

    has_earlier: bool = False


async def list_around(
    db: Database, user_id: int, wanted: EntryListQuery, entry_id: int, before: int, now: datetime
) -> EntryListPage:
    """The page with up to `before` entries before this one; from the start if the entry does not belong to the list.

    The entry is in the page also when it was read since: so it was when the reader opened it.
    """
    entry = await find_entry(db, user_id, entry_id)
    [summary] = await entry_summaries(db, user_id, [entry_id])
    at = list_time(entry, wanted)
    if at is None or at < wanted.oldest or not _is_in_scope(entry, summary, wanted):
        return await list_entries(db, user_id, wanted, now)
    here, raised = ListPosition(at, entry_id), await raised_of_list(db, user_id, wanted, now)
    if summary.raised and raised.has_place_for(here, wanted.order):
        return _with_raised(await list_entries(db, user_id, wanted, now), summary, wanted)
    following = await list_entries(db, user_id, replace(wanted, beyond=here, raised=raised.range), now)
    reverse = wanted.beyond_place(here, before + 1, REVERSE_ORDER[wanted.order], raised.left_out)
    places = (await find_entry_page(db, user_id, reverse, now)).places
    earlier = to_summaries(found for place, found in places if place.at >= wanted.oldest)
    has_earlier = len(earlier) > before
    first = [] if has_earlier else await entry_summaries(db, user_id, raised.ids)
    items = [*first, *earlier[:before][::-1], summary, *following.items]
    return PageAround(items, following.next, following.as_of, len(first), has_earlier)


def _with_raised(page: EntryListPage, entry: EntrySummary, wanted: EntryListQuery) -> EntryListPage:
    """The page, with the entry among those that it shows first, though it was read."""
    first, rest = page.items[: page.raised_count], page.items[page.raised_count :]
    others = [each for each in first if each.id != entry.id]
    is_newest_first = wanted.order is EntryOrder.NEWEST
    shown = sorted([*others, entry], key=lambda each: (each.sort_at, each.id), reverse=is_newest_first)
    return msgspec.structs.replace(page, items=[*shown, *rest], raised_count=len(shown))


def _is_in_scope(entry: VisibleEntry, summary: EntrySummary, wanted: EntryListQuery) -> bool:
    ids, label_id = wanted.scope.subscription_ids, wanted.scope.label_id
    is_subscribed = ids is None or entry.subscription_id in ids
    return is_subscribed and (label_id is None or any(label.id == label_id for label in summary.labels))
