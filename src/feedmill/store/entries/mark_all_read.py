"""Marks all unread entries of a list, folder, feed or label, or of one side of a list, as read, however many.

The unread list is split into what is marked and what stays unread; the smaller part moves to a new list. So nothing
moves when everything is marked, and few rows move when all but the newest entries are, however many there are. The
list of marked entries is retired under a token, with which `store/entries/undo_mark_all_read.py` restores it.
"""

from datetime import datetime
from functools import cache
from secrets import token_hex
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Delete, Select, Update, and_, bindparam, exists, func, not_, or_, select, true

from feedmill.model.entry_lists import EntryOrder, EntryView
from feedmill.model.entry_marks import ListSide, MarkAllRead, MarkAllReadResult
from feedmill.model.filters.entry_filter import FilterAction
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, insert, one_of
from feedmill.store.entries.list_pages import MARKED_AT, is_beyond, is_marked
from feedmill.store.entries.unread_list_sql import LOCK_ALL, RECOUNT, UNREAD_LIST_ID, of_user, recount
from feedmill.store.schema import (
    entries,
    entry_labels,
    filter_effects,
    states,
    subscriptions,
    unread,
    unread_lists,
    users,
)
from feedmill.store.stories.mark_whole_stories import StoryStatements, find_copies_to_mark, story_statements

END_OF_TIME = "9999-12-31T23:59:59.999Z"
LAST_ID = 2**53 - 1


class ListColumns(NamedTuple):
    """The columns by which entries are chosen: of rows of a list, or of entries with the user's subscriptions."""

    sort_at: ColumnElement[str]
    entry_id: ColumnElement[int]
    subscription_id: ColumnElement[int]


class ListPartition(NamedTuple):
    """The statements that split a user's unread list and recount what changes."""

    count_marked: Select[Any]
    move_marked: Update
    move_kept: Update
    recount: Update
    stories: StoryStatements
    take_over: Delete


UNREAD_COLUMNS = ListColumns(unread.c.sort_at, unread.c.entry_id, unread.c.subscription_id)
ENTRY_COLUMNS = ListColumns(entries.c.sort_at, entries.c.id, subscriptions.c.id)
# What a filter hid or read is marked by the user now: no undo of the filter makes it unread.
TAKE_OVER = filter_effects.delete().where(
    filter_effects.c.user_id == bindparam("of_user"),
    or_(filter_effects.c.action == FilterAction.HIDE, filter_effects.c.action == FilterAction.READ),
)
RECOUNT_SOME = recount(one_of(subscriptions.c.id, "subscriptions"))


@cache
def _partition(of_some: bool, labelled: bool, side: tuple[EntryView, EntryOrder] | None) -> ListPartition:
    in_scope = _in_scope(UNREAD_COLUMNS, of_some, labelled)
    chosen = _chosen(UNREAD_COLUMNS, of_some, labelled, side)
    counted = select(func.count().label("n")).where(unread.c.list_id == UNREAD_LIST_ID, chosen)
    return ListPartition(
        counted,
        _move(chosen),
        _move(not_(chosen)),
        RECOUNT_SOME if of_some else RECOUNT,
        story_statements(chosen, and_(unread.c.sort_at >= bindparam("since"), in_scope)),
        _take_over(_chosen(ENTRY_COLUMNS, of_some, labelled, side)),
    )


def _chosen(
    row: ListColumns, of_some: bool, labelled: bool, side: tuple[EntryView, EntryOrder] | None
) -> ColumnElement[bool]:
    chosen = and_(
        row.sort_at >= bindparam("since"),
        row.sort_at < bindparam("before"),
        row.entry_id <= bindparam("up_to"),
        _in_scope(row, of_some, labelled),
    )
    return and_(chosen, _on_side(row, *side)) if side else chosen


def _take_over(chosen: ColumnElement[bool]) -> Delete:
    return TAKE_OVER.where(
        exists().where(
            entries.c.id == filter_effects.c.entry_id,
            subscriptions.c.feed_id == entries.c.feed_id,
            subscriptions.c.user_id == bindparam("of_user"),
            chosen,
        )
    )


def _in_scope(row: ListColumns, of_some: bool, labelled: bool) -> ColumnElement[bool]:
    scope = one_of(row.subscription_id, "subscriptions") if of_some else true()
    if not labelled:
        return scope
    labelled_ids = select(entry_labels.c.entry_id).where(entry_labels.c.label_id == bindparam("label_id"))
    return and_(scope, row.entry_id.in_(labelled_ids))


def _on_side(row: ListColumns, view: EntryView, order: EntryOrder) -> ColumnElement[bool]:
    """What is beyond a position: of the time that orders the list, then of the id."""
    if view not in MARKED_AT:
        return is_beyond(order, (row.sort_at, row.entry_id))
    keys = (MARKED_AT[view], states.c.entry_id)
    return row.entry_id.in_(select(states.c.entry_id).where(is_marked(view), is_beyond(order, keys)))


_new_list = select(unread_lists.c.id).where(unread_lists.c.token == bindparam("token")).scalar_subquery()


def _move(which: ColumnElement[bool]) -> Update:
    return unread.update().where(unread.c.list_id == UNREAD_LIST_ID, which).values(list_id=_new_list)


# By the primary key, because there is no index by entry. `+ 0`: SQLite would look up every pair of time and entry.
_is_moved_copy = and_(
    unread.c.sort_at.in_(select(entries.c.sort_at).where(one_of(entries.c.id, "copies"))),
    one_of(unread.c.entry_id + 0, "copies"),
)
MOVE_COPIES = _move(_is_moved_copy)
MOVE_COPIES_BACK = unread.update().where(unread.c.list_id == _new_list, _is_moved_copy).values(list_id=UNREAD_LIST_ID)

UNREAD_TOTAL = select(func.coalesce(func.sum(subscriptions.c.unread_count), 0).label("n")).where(of_user)
NEW_LIST = insert(unread_lists, "user_id", "token", "created_at", "retired_at")
RETIRE = (
    unread_lists.update()
    .where(unread_lists.c.id == UNREAD_LIST_ID)
    .values(token=bindparam("undo"), retired_at=bindparam("now"))
)
POINT_TO_NEW = users.update().where(users.c.id == bindparam("of_user")).values(unread_list_id=_new_list)
# All counts, also those that are 0: a concurrent refresh then waits for this batch or precedes it. Otherwise its
# entry would be added to the old list and counted for the new one.
FORGET_COUNTS = subscriptions.update().where(of_user).values(unread_count=0)


async def mark_unread_as_read(db: Database, user_id: int, request: MarkAllRead, now: datetime) -> MarkAllReadResult:
    """Marks those of the user's unread entries as read that `request` selects."""
    params = _params(user_id, request, now)
    [total] = await db.query(UNREAD_TOTAL, params)
    if request.is_whole:
        await db.batch([Step(FORGET_COUNTS, params), *_use_new_list(user_id, params), Step(TAKE_OVER, params)])
        return MarkAllReadResult(int(total["n"]), params["undo"])
    scope, side = request.scope, request.side
    kind = (side.view, side.order) if side else None
    partition = _partition(scope.subscription_ids is not None, scope.label_id is not None, kind)
    [counted] = await db.query(partition.count_marked, params)
    fewer_marked = counted["n"] <= total["n"] - counted["n"]
    copies = await find_copies_to_mark(db, partition.stories, params, fewer_marked) if request.whole_stories else []
    steps = (_steps_to_move_marked if fewer_marked else _steps_to_move_kept)(partition, user_id, params, copies)
    await db.batch([*steps, Step(partition.take_over, params)])
    return MarkAllReadResult(int(counted["n"]) + len(copies), params["undo"])


def _steps_to_move_marked(
    partition: ListPartition, user_id: int, params: dict[str, Any], copies: list[int]
) -> list[Step]:
    """Moves the marked entries to a new list that is retired at once."""
    marked = params | {"token": params["undo"]}
    return [
        Step(LOCK_ALL, params),
        Step(NEW_LIST, _list(user_id, params["undo"], params["now"], retired_at=params["now"])),
        Step(partition.move_marked, marked),
        *([Step(MOVE_COPIES, marked | {"copies": as_list(copies)})] if copies else []),
        Step(RECOUNT if copies else partition.recount, params),
    ]


def _steps_to_move_kept(
    partition: ListPartition, user_id: int, params: dict[str, Any], copies: list[int]
) -> list[Step]:
    """Moves the entries that stay unread to a new list, which becomes the user's."""
    new, retire, point = _use_new_list(user_id, params)
    return [
        Step(LOCK_ALL, params),
        new,
        Step(partition.move_kept, params),
        *([Step(MOVE_COPIES_BACK, params | {"copies": as_list(copies)})] if copies else []),
        retire,
        point,
        Step(RECOUNT if copies else partition.recount, params),
    ]


def _use_new_list(user_id: int, params: dict[str, Any]) -> list[Step]:
    new = Step(NEW_LIST, _list(user_id, params["token"], params["now"], retired_at=None))
    return [new, Step(RETIRE, params), Step(POINT_TO_NEW, params)]


def _list(user_id: int, token: str, now: str, retired_at: str | None) -> dict[str, Any]:
    return {"user_id": user_id, "token": token, "created_at": now, "retired_at": retired_at}


def _params(user_id: int, request: MarkAllRead, now: datetime) -> dict[str, Any]:
    return {
        "of_user": user_id,
        "now": to_iso(now),
        "undo": token_hex(16),
        "token": token_hex(16),
        "since": "" if request.since is None else to_iso(request.since),
        "before": END_OF_TIME if request.before is None else to_iso(request.before),
        "up_to": LAST_ID if request.up_to is None else request.up_to,
        "subscriptions": as_list(list(request.scope.subscription_ids or ())),
        "label_id": request.scope.label_id,
        **(_position(request.side) if request.side else {}),
    }


def _position(side: ListSide) -> dict[str, Any]:
    return {"at": side.beyond.at, "entry_id": side.beyond.entry_id}
