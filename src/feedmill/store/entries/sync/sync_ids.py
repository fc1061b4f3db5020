"""Finds the ids of entries for programs that synchronize: by state and scope, in the order in which they were stored.

Ids grow with the time at which an entry was stored, so the id is the cursor: what arrives during a synchronization is
not missed, and nothing is repeated. Entries of feeds that the user no longer subscribes to are left out.

The index of a feed's entries contains their ids, so no row of an entry is read unless times are asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Select, Text, bindparam, exists, func, not_, or_, select

from feedmill.model.sync_query import LAST_ID, SyncOrder, SyncQuery
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database
from feedmill.store.dialect import as_list, one_of
from feedmill.store.entries.entry_dates import entry_date
from feedmill.store.entries.unread_list_sql import UNREAD_LIST_ID, of_user
from feedmill.store.literal_limits import literal_number
from feedmill.store.schema import entries, entry_labels, labels, states, subscriptions, unread

Condition = ColumnElement[bool]

# Refreshes overlap: an entry may be stored that long after others that were seen later.
OVERLAP = timedelta(minutes=15)
ORDERS = {SyncOrder.DATE: entry_date, SyncOrder.TITLE: entries.c.title, SyncOrder.AUTHOR: entries.c.author}
LIMITS = (1, 50, 100, 1000, 10_000, 100_000, 1_000_000)


async def find_sync_ids(db: Database, user_id: int, wanted: SyncQuery) -> list[int]:
    """The ids of the entries that `wanted` selects, newest first unless it says otherwise."""
    rows = await db.query(_page(_shape(wanted)), await _params(db, user_id, wanted))
    return [row["id"] for row in rows[wanted.offset : wanted.offset + wanted.most]]


async def count_sync_entries(db: Database, user_id: int, wanted: SyncQuery) -> int:
    """How many entries `wanted` selects on all its pages."""
    [row] = await db.query(_count(replace(_shape(wanted), size=0)), await _params(db, user_id, wanted))
    return int(row["n"])


async def _params(db: Database, user_id: int, wanted: SyncQuery) -> dict[str, Any]:
    after = wanted.after_id
    if wanted.seen_since is not None:
        after = max(after, await last_id_before(db, wanted.seen_since - OVERLAP))
    return {
        "of_user": user_id,
        "after_id": after,
        "before_id": wanted.before_id,
        "subscriptions": as_list(list(wanted.scope.subscription_ids or ())),
        "label_id": wanted.scope.label_id,
        "among": as_list(list(wanted.among or ())),
        "seen_since": _at(wanted.seen_since, ""),
        "seen_until": _at(wanted.seen_until, "9999"),
        "dated_since": _at(wanted.dated_since, ""),
        "dated_until": _at(wanted.dated_until, "9999"),
        **_tag_params(wanted.tags),
    }


def _at(moment: datetime | None, otherwise: str) -> str:
    return otherwise if moment is None else to_iso(moment)


async def newest_unread_times(db: Database, user_id: int) -> dict[int, str]:
    """By subscription, when the newest of its unread entries was first seen."""
    rows = await db.query(NEWEST_UNREAD, {"of_user": user_id})
    return {row["subscription_id"]: row["first_seen_at"] for row in rows}


_newest_ids = (
    select(unread.c.subscription_id, func.max(unread.c.entry_id).label("entry_id"))
    .where(unread.c.list_id == UNREAD_LIST_ID)
    .group_by(unread.c.subscription_id)
    .subquery("newest")
)
NEWEST_UNREAD = select(_newest_ids.c.subscription_id, entries.c.first_seen_at).join_from(
    _newest_ids, entries, entries.c.id == _newest_ids.c.entry_id
)
NEXT = select(entries.c.id, entries.c.first_seen_at).where(entries.c.id >= bindparam("from_id")).order_by(entries.c.id)
FIRST_FROM = NEXT.limit(literal_number(1))
LAST = select(func.coalesce(func.max(entries.c.id), 0).label("id"))


FIRST_SEEN_LATER = select(func.min(entries.c.id).label("id")).where(
    entries.c.id > bindparam("after_id"), entries.c.first_seen_at > bindparam("at")
)


async def last_id_seen_until(db: Database, at: datetime) -> int:
    """The largest id up to which every entry was first seen at that time or before."""
    after = await last_id_before(db, at - OVERLAP)
    [later] = await db.query(FIRST_SEEN_LATER, {"after_id": after, "at": to_iso(at)})
    return LAST_ID if later["id"] is None else int(later["id"]) - 1


async def last_id_before(db: Database, at: datetime) -> int:
    """An id before which entries were first seen before `at`: by bisection, because ids grow with the time."""
    moment = to_iso(at)
    [row] = await db.query(LAST)
    low, high = 0, int(row["id"])
    while low < high:
        middle = (low + high + 1) // 2
        [found, *_] = await db.query(FIRST_FROM, {"from_id": middle}) or [{"id": high, "first_seen_at": moment}]
        if found["first_seen_at"] < moment:
            low = min(found["id"], high)
        else:
            high = middle - 1
    return low


@dataclass(frozen=True, slots=True)
class _Shape:
    """The values on which a statement depends."""

    unread: bool | None
    starred: bool | None
    of_some: bool
    labelled: bool
    has_seen: bool
    has_dates: bool
    of_ids: bool
    tag_count: int
    order: SyncOrder
    oldest_first: bool
    size: int

    @property
    def is_unread_list(self) -> bool:
        """Whether the user's unread list alone answers it."""
        others = (self.labelled, self.has_seen, self.has_dates, self.of_ids, self.tag_count, self.starred is not None)
        return bool(self.unread) and self.order is SyncOrder.ID and not any(others)


def _shape(wanted: SyncQuery) -> _Shape:
    rows = wanted.offset + wanted.most
    return _Shape(
        wanted.unread,
        wanted.starred,
        wanted.scope.subscription_ids is not None,
        wanted.scope.label_id is not None,
        wanted.seen_since is not None or wanted.seen_until is not None,
        wanted.dated_since is not None or wanted.dated_until is not None,
        wanted.among is not None,
        len(wanted.tags),
        wanted.order,
        wanted.oldest_first,
        next((limit for limit in LIMITS if limit >= rows), rows),
    )


@cache
def _page(shape: _Shape) -> Select[Any]:
    found, id = _matches(shape)
    keys = [id] if shape.order is SyncOrder.ID else [ORDERS[shape.order], id]
    ordered = found.order_by(*(key if shape.oldest_first else key.desc() for key in keys))
    return ordered.limit(literal_number(shape.size))


@cache
def _count(shape: _Shape) -> Select[Any]:
    return select(func.count().label("n")).select_from(_matches(shape)[0].subquery("matches"))


def _matches(shape: _Shape) -> tuple[Select[Any], ColumnElement[int]]:
    """All that match, and the column with their ids."""
    if shape.is_unread_list:
        found = select(unread.c.entry_id.label("id")).where(unread.c.list_id == UNREAD_LIST_ID)
        found = found.where(one_of(unread.c.subscription_id, "subscriptions")) if shape.of_some else found
        return _in_range(found, unread.c.entry_id), unread.c.entry_id
    subscribed = [of_user, *([one_of(subscriptions.c.id, "subscriptions")] if shape.of_some else [])]
    found = select(entries.c.id).where(
        entries.c.feed_id.in_(select(subscriptions.c.feed_id).where(*subscribed)),
        *_conditions(shape.unread, shape.starred, shape.labelled),
        *(_between(entries.c.first_seen_at, "seen") if shape.has_seen else ()),
        *(_between(entry_date, "dated") if shape.has_dates else ()),
        *([one_of(entries.c.id, "among")] if shape.of_ids else ()),
        *(_has_tag(number) for number in range(shape.tag_count)),
    )
    return _in_range(found, entries.c.id), entries.c.id


def _between(at: ColumnElement[str], name: str) -> tuple[Condition, Condition]:
    return at >= bindparam(f"{name}_since"), at <= bindparam(f"{name}_until")


def _tag_params(tags: Sequence[str]) -> dict[str, str]:
    """Each tag as it is and in small letters, and both as JSON, in which categories are stored."""
    forms = {f"tag_{number}": tag for number, tag in enumerate(tags)}
    forms |= {f"lower_{name}": tag.lower() for name, tag in forms.items()}
    return forms | {f"json_{name}": msgspec.json.encode(tag).decode() for name, tag in forms.items()}


def _has_tag(number: int) -> Condition:
    """Whether an entry has the tag. SQLite knows small letters of ASCII alone, so the tag as it is counts too."""
    plain, lower = f"tag_{number}", f"lower_tag_{number}"
    named = or_(labels.c.name == bindparam(plain), func.lower(labels.c.name) == bindparam(lower))
    labelled = (
        select(entry_labels.c.entry_id)
        .join(labels, labels.c.id == entry_labels.c.label_id)
        .where(labels.c.user_id == bindparam("of_user"), named)
    )
    return or_(
        entries.c.id.in_(labelled),
        _holds(entries.c.categories, f"json_{plain}"),
        _holds(func.lower(entries.c.categories), f"json_{lower}"),
    )


def _holds(column: ColumnElement[str], name: str) -> Condition:
    """Whether a column contains a text. Not LIKE: D1 refuses patterns of more than 50 bytes."""
    return func.replace(column, bindparam(name, type_=Text()), "") != column


def _in_range(found: Select[Any], id: ColumnElement[int]) -> Select[Any]:
    return found.where(id > bindparam("after_id"), id < bindparam("before_id"))


def _conditions(is_unread: bool | None, is_starred: bool | None, labelled: bool) -> list[Condition]:
    in_list = exists().where(
        unread.c.list_id == UNREAD_LIST_ID, unread.c.sort_at == entries.c.sort_at, unread.c.entry_id == entries.c.id
    )
    starred = select(states.c.entry_id).where(
        states.c.user_id == bindparam("of_user"), states.c.starred_at.is_not(None)
    )
    has_label = select(entry_labels.c.entry_id).where(entry_labels.c.label_id == bindparam("label_id"))
    return [
        *_either(is_unread, in_list),
        *_either(is_starred, entries.c.id.in_(starred)),
        *([entries.c.id.in_(has_label)] if labelled else []),
    ]


def _either(state: bool | None, condition: Condition) -> list[Condition]:
    return [] if state is None else [condition if state else not_(condition)]
