"""Marks all unread entries of a list, folder, feed or label as read, whatever their number.

What is marked and what stays unread are parted into two lists, and of the two the smaller one moves to a new list. So
nothing moves when all is marked, and next to nothing when all but the newest is, however many there are. The list of
those that are marked is retired under a token, with which `store/entries/undo_mark_all_read.py` brings them back.
"""

from datetime import datetime
from functools import cache
from secrets import token_hex
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, Update, and_, bindparam, func, not_, select

from feedmill.model.entry_lists import MarkAllRead, MarkAllReadResult
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, insert, one_of
from feedmill.store.entries.unread_lists import LOCK_ALL, RECOUNT, UNREAD_LIST_ID, of_user, recount
from feedmill.store.schema import entry_labels, subscriptions, unread, unread_lists, users

END_OF_TIME = "9999-12-31T23:59:59.999Z"
LAST_ID = 2**53 - 1


class ListPartition(NamedTuple):
    """The statements that part a user's list, and count anew what that changes."""

    count_marked: Select[Any]
    move_marked: Update
    move_kept: Update
    recount: Update


RECOUNT_SOME = recount(one_of(subscriptions.c.id, "subscriptions"))


@cache
def _partition(of_some: bool, labelled: bool) -> ListPartition:
    is_marked = and_(
        unread.c.sort_at >= bindparam("since"),
        unread.c.sort_at < bindparam("before"),
        unread.c.entry_id <= bindparam("up_to"),
    )
    if of_some:
        is_marked = and_(is_marked, one_of(unread.c.subscription_id, "subscriptions"))
    if labelled:
        bearing = select(entry_labels.c.entry_id).where(entry_labels.c.label_id == bindparam("label_id"))
        is_marked = and_(is_marked, unread.c.entry_id.in_(bearing))
    counted = select(func.count().label("n")).where(unread.c.list_id == UNREAD_LIST_ID, is_marked)
    return ListPartition(counted, _move(is_marked), _move(not_(is_marked)), RECOUNT_SOME if of_some else RECOUNT)


_new_list = select(unread_lists.c.id).where(unread_lists.c.token == bindparam("token")).scalar_subquery()


def _move(which: ColumnElement[bool]) -> Update:
    return unread.update().where(unread.c.list_id == UNREAD_LIST_ID, which).values(list_id=_new_list)


UNREAD_TOTAL = select(func.coalesce(func.sum(subscriptions.c.unread_count), 0).label("n")).where(of_user)
NEW_LIST = insert(unread_lists, "user_id", "token", "created_at", "retired_at")
RETIRE = (
    unread_lists.update()
    .where(unread_lists.c.id == UNREAD_LIST_ID)
    .values(token=bindparam("undo"), retired_at=bindparam("now"))
)
POINT_TO_NEW = users.update().where(users.c.id == bindparam("of_user")).values(unread_list_id=_new_list)
# All counts, also those that are 0: a refresh that counts an entry meanwhile must come before or after us, else
# its entry would land in the old list and be counted in the new one.
FORGET_COUNTS = subscriptions.update().where(of_user).values(unread_count=0)


async def mark_unread_as_read(db: Database, user_id: int, wanted: MarkAllRead, now: datetime) -> MarkAllReadResult:
    """Marks read what `wanted` says of a user's unread entries."""
    params = _params(user_id, wanted, now)
    [total] = await db.query(UNREAD_TOTAL, params)
    if wanted.is_whole:
        await db.batch([Step(FORGET_COUNTS, params), *_use_new_list(user_id, params)])
        return MarkAllReadResult(int(total["n"]), params["undo"])
    parting = _partition(wanted.scope.subscription_ids is not None, wanted.scope.label_id is not None)
    [counted] = await db.query(parting.count_marked, params)
    fewer_marked = counted["n"] <= total["n"] - counted["n"]
    await db.batch((_set_apart if fewer_marked else _leave_behind)(parting, user_id, params))
    return MarkAllReadResult(int(counted["n"]), params["undo"])


def _set_apart(parting: ListPartition, user_id: int, params: dict[str, Any]) -> list[Step]:
    """What is marked moves to a list that is retired from the start."""
    return [
        Step(LOCK_ALL, params),
        Step(NEW_LIST, _list(user_id, params["undo"], params["now"], retired_at=params["now"])),
        Step(parting.move_marked, params | {"token": params["undo"]}),
        Step(parting.recount, params),
    ]


def _leave_behind(parting: ListPartition, user_id: int, params: dict[str, Any]) -> list[Step]:
    """What stays unread moves to a new list, to which the user is pointed."""
    new, retire, point = _use_new_list(user_id, params)
    return [Step(LOCK_ALL, params), new, Step(parting.move_kept, params), retire, point, Step(parting.recount, params)]


def _use_new_list(user_id: int, params: dict[str, Any]) -> list[Step]:
    new = Step(NEW_LIST, _list(user_id, params["token"], params["now"], retired_at=None))
    return [new, Step(RETIRE, params), Step(POINT_TO_NEW, params)]


def _list(user_id: int, token: str, now: str, retired_at: str | None) -> dict[str, Any]:
    return {"user_id": user_id, "token": token, "created_at": now, "retired_at": retired_at}


def _params(user_id: int, wanted: MarkAllRead, now: datetime) -> dict[str, Any]:
    return {
        "of_user": user_id,
        "now": to_iso(now),
        "undo": token_hex(16),
        "token": token_hex(16),
        "since": "" if wanted.since is None else to_iso(wanted.since),
        "before": END_OF_TIME if wanted.before is None else to_iso(wanted.before),
        "up_to": LAST_ID if wanted.up_to is None else wanted.up_to,
        "subscriptions": as_list(list(wanted.scope.subscription_ids or ())),
        "label_id": wanted.scope.label_id,
    }
