"""Finds the entries on a page of a list by keyset pagination along an index.

A page is one range scan of an index from where the last page ended, so its cost does not depend on its depth or on
the number of entries. The lists of several subscriptions are merged: each subscription tells how far a full page of
its own would reach, and the merged page ends no later than the nearest of these, so few rows are read in vain.

The columns that a list shows (`store/entries/visible_entries.py`) are selected by the same statement.

A list that shows each story once leaves out copies (`store/stories/copies.py`), and one that shows raised entries first
leaves those out at their places: they are read like other rows and then passed over, so that a page costs what its rows
cost.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    FromClause,
    ScalarSelect,
    Select,
    Table,
    and_,
    bindparam,
    case,
    exists,
    func,
    or_,
    select,
)

from feedmill.model.entry_lists import EntryOrder, EntryScope, EntryView, ListPosition
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Row
from feedmill.store.dialect import as_list, one_of
from feedmill.store.entries.deferred_entries import OLDEST_LACKING
from feedmill.store.entries.unread_list_sql import UNREAD_LIST_ID, of_user
from feedmill.store.entries.visible_entries import ListedEntry, select_listed_entries, to_listed_entries
from feedmill.store.literal_limits import literal_number, round_limit_up
from feedmill.store.schema import entries, entry_labels, states, subscriptions, unread
from feedmill.store.stories.copies import VIEWS_OF_STORIES, is_copy

Condition = ColumnElement[bool]
Chosen = Callable[[FromClause], Condition]
Belongs = Callable[[FromClause, FromClause], Condition]
Keys = tuple[ColumnElement[Any], ColumnElement[Any]]
"""The time and the entry id by which a list is ordered."""

_AT: ColumnElement[str] = bindparam("at")
_ID: ColumnElement[int] = bindparam("entry_id")
LIST_STARTS = {
    EntryOrder.NEWEST: ListPosition("9999-12-31T23:59:59.999Z", 2**53 - 1),
    EntryOrder.OLDEST: ListPosition("0000-01-01T00:00:00.000Z", 0),
}
REVERSE_ORDER = {EntryOrder.NEWEST: EntryOrder.OLDEST, EntryOrder.OLDEST: EntryOrder.NEWEST}
MARKED_AT = {
    EntryView.STARRED: states.c.starred_at,
    EntryView.LATER: states.c.later_at,
    EntryView.HISTORY: states.c.read_at,
}

# Rows that are read at once when many before them were passed over.
LARGEST_PART = 201

# Read in the same statement as the page: no later entry can be in the page. It ends before the user's deferred entries,
# which came after their list was filled: the page lacks them.
_last = entries.alias("last")
_newest = func.coalesce(OLDEST_LACKING - 1, select(func.max(_last.c.id)).scalar_subquery(), 0)
_newest_id = _newest.label("newest_id")
NEWEST_ID = select(_newest.label("newest_id"))


class ListPage(NamedTuple):
    """The entries of a page with their positions, and the newest entry of the instance at that moment.

    None stands for an entry that the user may not see.
    """

    places: list[tuple[ListPosition, ListedEntry | None]]
    newest_id: int


class ListKind(NamedTuple):
    """`of_one`: one subscription (True), several (False) or no limit (None). `stories_once`: it tells copies."""

    view: EntryView
    order: EntryOrder
    of_one: bool | None
    labelled: bool
    size: int
    stories_once: bool = False


@dataclass(frozen=True, slots=True)
class ListRange:
    """A part of a list: up to `most` entries after a position, without some of them.

    Entries from before `oldest` do not belong to the list (empty: no limit). Those of this part are not checked.
    """

    view: EntryView
    scope: EntryScope
    order: EntryOrder
    beyond: ListPosition
    most: int
    stories_once: bool = False
    without: frozenset[int] = frozenset()
    oldest: str = ""

    @property
    def kind(self) -> "ListKind":
        """The values on which its statement depends."""
        ids, once = self.scope.subscription_ids, self.stories_once and self.view in VIEWS_OF_STORIES
        return ListKind(
            self.view,
            self.order,
            None if ids is None else len(ids) == 1,
            self.scope.label_id is not None,
            round_limit_up(self.most),
            once,
        )

    def params(self, user_id: int, now: datetime) -> dict[str, Any]:
        ids = self.scope.subscription_ids
        return {
            "of_user": user_id,
            "at": self.beyond.at,
            "entry_id": self.beyond.entry_id,
            "now": to_iso(now),
            "label_id": self.scope.label_id,
            "subscriptions": as_list(list(ids or ())),
            "subscription_id": ids[0] if ids and len(ids) == 1 else None,
            "oldest": self.oldest,
        }


async def find_entry_page(db: Database, user_id: int, list_range: ListRange, now: datetime) -> ListPage:
    """The entries of a part of a list, with what the list shows of them."""
    places: list[tuple[ListPosition, ListedEntry | None]] = []
    newest_id = None
    async for found in _parts(db, user_id, list_range, now, page_statement):
        at = {row["id"]: row["at"] for row in found}
        shown = _shown_ids(list_range, found)
        places += [(ListPosition(at[id], id), entry) for id, entry in to_listed_entries(found).items() if id in shown]
        newest_id = newest_id or found[0]["newest_id"]
    if newest_id is None:
        newest_id = await newest_listed_id(db, user_id)
    return ListPage(places[: list_range.most], newest_id)


async def newest_listed_id(db: Database, user_id: int) -> int:
    """The newest entry up to which the user's lists are complete."""
    [newest] = await db.query(NEWEST_ID, {"of_user": user_id})
    return int(newest["newest_id"])


async def find_positions(db: Database, user_id: int, list_range: ListRange, now: datetime) -> list[ListPosition]:
    """The positions of a part of a list alone."""
    places: list[ListPosition] = []
    async for found in _parts(db, user_id, list_range, now, positions_statement):
        shown = _shown_ids(list_range, found)
        places += [ListPosition(row["at"], row["id"]) for row in found if row["id"] in shown]
    return places[: list_range.most]


async def _parts(
    db: Database, user_id: int, list_range: ListRange, now: datetime, statement: Callable[[ListKind], Select[Any]]
) -> AsyncIterator[list[Row]]:
    """The rows of a part of a list; further ones until enough are shown, because some are passed over."""
    missing, more = list_range.most, 0
    while found := await db.query(statement(list_range.kind), list_range.params(user_id, now)):
        yield found
        missing -= len(_shown_ids(list_range, found))
        is_last = len({row["id"] for row in found}) < list_range.kind.size
        if is_last or missing <= 0 or not (list_range.stories_once or list_range.without):
            return
        # A few were passed over, as mostly, or there is a long run of them.
        more = max(2 * missing, 4 * more)
        last = ListPosition(found[-1]["at"], found[-1]["id"])
        list_range = replace(list_range, beyond=last, most=min(more, LARGEST_PART))


def _shown_ids(list_range: ListRange, found: Sequence[Row]) -> set[int]:
    """Those of the entries that the list does not pass over."""
    return {row["id"] for row in found if not row.get("is_copy")} - list_range.without


@cache
def page_statement(kind: ListKind) -> Select[Any]:
    """The statement for a page with the columns that a list shows."""
    keys = keys_statement(kind).subquery("keys")
    shown = select_listed_entries(keys).add_columns(keys.c.at, keys.c.newest_id)
    if kind.stories_once:
        shown = shown.add_columns(_copy_column(kind))
    return _sorted(shown, kind.order, (keys.c.at, keys.c.entry_id))


@cache
def positions_statement(kind: ListKind) -> Select[Any]:
    """The statement for the positions of a page."""
    keys = keys_statement(kind).subquery("keys")
    found = select(keys.c.at, keys.c.entry_id.label("id"))
    if kind.stories_once:
        # The subscription of the entry is needed, which the keys of some lists do not have.
        source = keys.join(entries, entries.c.id == keys.c.entry_id).outerjoin(
            subscriptions, and_(subscriptions.c.feed_id == entries.c.feed_id, of_user)
        )
        found = found.select_from(source).add_columns(_copy_column(kind))
    return _sorted(found, kind.order, (keys.c.at, keys.c.entry_id))


def _copy_column(kind: ListKind) -> ColumnElement[int]:
    copied = is_copy(entries.c.id, subscriptions.c.id, kind.view, kind.of_one, kind.labelled)
    return case((copied, 1), else_=0).label("is_copy")


@cache
def keys_statement(kind: ListKind) -> Select[Any]:
    """The statement for the keys of a page."""
    view, order, of_one, labelled, size, _ = kind
    if labelled:
        return _labelled(view, order, of_one, size)
    if view is EntryView.UNREAD:
        return _unread(order, of_one, size)
    if view is EntryView.ALL:
        return _all(order, of_one, size)
    return _marked(view, order, of_one, size)


# --- unread entries and all entries ------------------------------------------------------------------------


def _unread(order: EntryOrder, of_one: bool | None, size: int) -> Select[Any]:
    in_list = unread.c.list_id == UNREAD_LIST_ID
    if of_one:
        in_list = and_(in_list, unread.c.subscription_id == bindparam("subscription_id"))
    if of_one is not False:
        return _scan(order, size, (unread.c.sort_at, unread.c.entry_id), in_list)
    return _merge(order, size, unread, "entry_id", _unread_of, lambda one: and_(_chosen(one), one.c.unread_count > 0))


def _all(order: EntryOrder, of_one: bool | None, size: int) -> Select[Any]:
    if of_one:
        feed_id = select(subscriptions.c.feed_id).where(of_user, subscriptions.c.id == bindparam("subscription_id"))
        return _scan(order, size, (entries.c.sort_at, entries.c.id), entries.c.feed_id == feed_id.scalar_subquery())
    return _merge(order, size, entries, "id", _collected_by, _chosen if of_one is False else _of_user)


def _of_user(one: FromClause) -> Condition:
    return one.c.user_id == bindparam("of_user")


def _chosen(one: FromClause) -> Condition:
    return and_(_of_user(one), one_of(one.c.id, "subscriptions"))


def _unread_of(rows: FromClause, one: FromClause) -> Condition:
    return and_(rows.c.list_id == UNREAD_LIST_ID, rows.c.subscription_id == one.c.id)


def _collected_by(rows: FromClause, one: FromClause) -> Condition:
    return rows.c.feed_id == one.c.feed_id


# --- marked entries ----------------------------------------------------------------------------------------


def _marked(view: EntryView, order: EntryOrder, of_one: bool | None, size: int) -> Select[Any]:
    keys = (MARKED_AT[view], states.c.entry_id)
    return _scan(order, size, keys, is_marked(view), *_of_subscriptions(of_one, states.c.entry_id))


def _labelled(view: EntryView, order: EntryOrder, of_one: bool | None, size: int) -> Select[Any]:
    """Entries with a label that also belong to the view."""
    key = entry_labels.c.entry_id
    conditions = [entry_labels.c.label_id == bindparam("label_id"), *_of_subscriptions(of_one, key)]
    if view is EntryView.UNREAD:
        stands = and_(unread.c.sort_at == entry_labels.c.sort_at, unread.c.entry_id == key)
        conditions.append(exists().where(unread.c.list_id == UNREAD_LIST_ID, stands))
    elif view is not EntryView.ALL:
        conditions.append(exists().where(is_marked(view), states.c.entry_id == key))
    return _scan(order, size, (entry_labels.c.sort_at, key), *conditions)


def is_marked(view: EntryView) -> Condition:
    marked = and_(states.c.user_id == bindparam("of_user"), MARKED_AT[view].is_not(None))
    return marked if view is not EntryView.LATER else and_(marked, states.c.later_until > bindparam("now"))


def _of_subscriptions(of_one: bool | None, entry_id: ColumnElement[Any]) -> list[Condition]:
    if of_one is None:
        return []
    joined = (entries.c.id == entry_id, entries.c.feed_id == subscriptions.c.feed_id)
    return [exists().where(*joined, _chosen(subscriptions))]


# --- scanning ----------------------------------------------------------------------------------------------


def _scan(order: EntryOrder, size: int, keys: Keys, *which: Condition) -> Select[Any]:
    at, entry_id = keys
    found = select(at.label("at"), entry_id.label("entry_id"), _newest_id).where(*which, is_beyond(order, keys))
    return _sorted(found, order, keys).limit(literal_number(size))


def _merge(order: EntryOrder, size: int, table: Table, id_name: str, belongs: Belongs, chosen: Chosen) -> Select[Any]:
    """A page of rows of several subscriptions: `chosen` selects these, `belongs` joins a row to one of them."""
    first_times = _subscriptions_with_first_time(order, table, id_name, belongs, chosen).cte("first_times")
    some = _sorted(select(first_times.c.head).where(first_times.c.head.is_not(None)), order, (first_times.c.head,))
    closest = select(first_times).where(_up_to(order, first_times.c.head, _nth(some, size - 1))).cte("closest")
    page_end = _nth(_times_of(order, table, id_name, belongs, closest), size - 1).label("page_end")
    page_ends = select(page_end).select_from(closest).subquery("page_ends")
    first_page_end = select(
        (func.max if order is EntryOrder.NEWEST else func.min)(page_ends.c.page_end)
    ).scalar_subquery()
    keys = (table.c.sort_at, table.c[id_name])
    return _scan(order, size, keys, belongs(table, closest), _up_to(order, table.c.sort_at, first_page_end))


def _subscriptions_with_first_time(
    order: EntryOrder, table: Table, id_name: str, belongs: Belongs, chosen: Chosen
) -> Select[Any]:
    """The subscriptions, each with the time of its first row."""
    one = subscriptions.alias("one")
    head = _nth(_times_of(order, table, id_name, belongs, one), 0).label("head")
    return select(one.c.id, one.c.feed_id, head).where(chosen(one))


def _times_of(order: EntryOrder, table: Table, id_name: str, belongs: Belongs, one: FromClause) -> Select[Any]:
    """The times of a subscription's rows."""
    probed = table.alias()
    keys = (probed.c.sort_at, probed.c[id_name])
    return _sorted(select(probed.c.sort_at).where(belongs(probed, one), is_beyond(order, keys)), order, keys)


def _nth(found: Select[Any], place: int) -> ScalarSelect[Any]:
    return found.limit(literal_number(1)).offset(literal_number(place)).scalar_subquery()


def _up_to(order: EntryOrder, at: ColumnElement[Any], end: ScalarSelect[Any]) -> Condition:
    """Not after `end`, if there is one."""
    bound = func.coalesce(end, LIST_STARTS[REVERSE_ORDER[order]].at)
    return at >= bound if order is EntryOrder.NEWEST else at <= bound


def is_beyond(order: EntryOrder, keys: Keys) -> Condition:
    # Not (at, entry_id) < (:at, :id): MySQL reads the whole list for that.
    at, entry_id = keys
    if order is EntryOrder.NEWEST:
        return and_(at <= _AT, or_(at < _AT, entry_id < _ID))
    return and_(at >= _AT, or_(at > _AT, entry_id > _ID))


def _sorted(found: Select[Any], order: EntryOrder, keys: Sequence[ColumnElement[Any]]) -> Select[Any]:
    return found.order_by(*(key.desc() if order is EntryOrder.NEWEST else key for key in keys))
