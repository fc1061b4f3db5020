"""Conditions that may be the driving index of a search, because few entries fulfil them.

A scan by date ends as soon as a page is full, which is best if many entries match. But to find three starred entries
among a million it would read all of them. So matches of narrow conditions are counted first, up to `FEW`; a condition
with few matches becomes the driving index. Whether words can do so depends on the database (`search_dialect.py`).
"""

from typing import Any

from sqlalchemy import (
    BigInteger,
    CompoundSelect,
    Select,
    bindparam,
    func,
    literal_column,
    select,
)

from feedmill.store.database import Database
from feedmill.store.dialect import one_of
from feedmill.store.entries.visibility import (
    entry_ids_of_states,
    is_kept_for_later,
    is_starred,
    visible_entry_ids,
)
from feedmill.store.schema import entries, entry_labels, subscriptions, unread, users
from feedmill.store.search.split_query import ConditionShape, PreparedSearch

# This many entries are checked one by one in about 20 ms.
FEW = 5_000
# The most subscriptions whose entries are counted for this.
FEW_SUBSCRIPTIONS = 50

WORDS = ConditionShape("words")
VISIBLE = ConditionShape("visible")
# What the user may see, by date: read until enough has been found, while all of a narrow condition is read.
VISIBLE_BY_DATE = ConditionShape("visible by date")

_user = bindparam("user_id", type_=BigInteger())
_its_feeds = select(subscriptions.c.feed_id).where(subscriptions.c.user_id == _user)
_FIXED: dict[str, Select[Any] | CompoundSelect[Any]] = {
    "starred": entry_ids_of_states(_user).where(is_starred),
    "later": entry_ids_of_states(_user).where(is_kept_for_later),
    "unread": select(unread.c.entry_id).where(
        unread.c.list_id == select(users.c.unread_list_id).where(users.c.id == _user).scalar_subquery()
    ),
    "visible": visible_entry_ids(_user),
}


def _of_feeds(name: str) -> Select[Any]:
    return select(entries.c.id).select_from(entries).where(one_of(entries.c.feed_id, name))


def _of_labels(name: str) -> Select[Any]:
    return select(entry_labels.c.entry_id).select_from(entry_labels).where(one_of(entry_labels.c.label_id, name))


def _counting(members: Select[Any] | CompoundSelect[Any], most: int) -> Select[Any]:
    some = members.limit(literal_column(str(most + 1))).subquery("some")
    return select(func.count().label("members")).select_from(some)


_LISTED = {"feeds": _of_feeds("listed"), "labels": _of_labels("listed")}
_COUNTS = {kind: _counting(members, FEW) for kind, members in (_FIXED | _LISTED).items()}
_SUBSCRIPTIONS = _counting(_its_feeds, FEW_SUBSCRIPTIONS)


async def find_narrow_condition(db: Database, search: PreparedSearch, user_id: int) -> ConditionShape | None:
    """The first condition of the search that few entries fulfil."""
    for shape in search.shape.parts:
        if shape.kind in _COUNTS and await is_few(db, shape, search, user_id):
            return shape
    return None


def entries_of_condition(driving_condition: ConditionShape) -> Select[Any] | CompoundSelect[Any]:
    """The entries that fulfil the driving condition."""
    match driving_condition.kind:
        case "feeds":
            return _of_feeds(driving_condition.name)
        case "labels":
            return _of_labels(driving_condition.name)
        case kind:
            return _FIXED[kind]


async def is_few(db: Database, shape: ConditionShape, search: PreparedSearch, user_id: int) -> bool:
    """Whether at most `FEW` entries fulfil the condition."""
    params = {"user_id": user_id, "listed": search.params.get(shape.name)}
    [row] = await db.query(_COUNTS[shape.kind], params)
    return int(row["members"]) <= FEW


async def sees_few_entries(db: Database, search: PreparedSearch, user_id: int) -> bool:
    """Whether the user may see at most `FEW` entries."""
    [row] = await db.query(_SUBSCRIPTIONS, {"user_id": user_id})
    return row["members"] <= FEW_SUBSCRIPTIONS and await is_few(db, VISIBLE, search, user_id)
