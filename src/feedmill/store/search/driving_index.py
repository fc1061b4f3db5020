"""Chooses the driving index of a search.

By date, the walk ends as soon as a page is full: best when much of what it meets fits. But three starred entries
among a million would be met after a million steps. So what is narrow is counted first, up to `FEW`, and leads if it
is. Words lead by themselves: SQLite's index walks by date too; PostgreSQL has to fetch all that match, which is
worth it unless the word is so common that the walk is shorter. MySQL always begins with the words.
"""

from math import sqrt
from typing import Any

import msgspec
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    CompoundSelect,
    Select,
    bindparam,
    func,
    literal_column,
    select,
    text,
    union,
)

from feedmill.store.database import Database
from feedmill.store.dialect import one_of
from feedmill.store.schema import entries, entry_labels, feeds, labels, states, subscriptions, unread, users
from feedmill.store.search.query_shapes import ConditionShape, PreparedSearch

# So many are looked at one by one in some 20 ms.
FEW = 5_000
# So many are fetched without a thought.
RARE = 10_000
# More than these are not added up to know whether they are few.
FEW_SUBSCRIPTIONS = 50
# To look into one more vector while walking takes as long as fetching so many that the index named.
LOOK = 8

WORDS = ConditionShape("words")
VISIBLE = ConditionShape("visible")

_user = bindparam("user_id", type_=BigInteger())
_states = select(states.c.entry_id).where(states.c.user_id == _user)
_starred = _states.where(states.c.starred_at.is_not(None))
_later = _states.where(states.c.later_at.is_not(None))
_its_feeds = select(subscriptions.c.feed_id).where(subscriptions.c.user_id == _user)
_labelled = select(entry_labels.c.entry_id).join(labels, labels.c.id == entry_labels.c.label_id)
_FIXED: dict[str, Select[Any] | CompoundSelect[Any]] = {
    "starred": _starred,
    "later": _later,
    "unread": select(unread.c.entry_id).where(
        unread.c.list_id == select(users.c.unread_list_id).where(users.c.id == _user).scalar_subquery()
    ),
    "visible": union(
        select(entries.c.id).where(entries.c.feed_id.in_(_its_feeds)),
        _starred,
        _later,
        _labelled.where(labels.c.user_id == _user),
    ),
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
# What the planner expects, from its statistics of common words.
_EXPECTED = text(
    "EXPLAIN (FORMAT JSON) SELECT 1 FROM search_texts WHERE words @@ to_tsquery('simple', CAST(:match AS text))"
)
_everything: ColumnElement[float] = literal_column(
    "(SELECT reltuples FROM pg_class WHERE oid = CAST('search_texts' AS regclass))"
)
_VISIBLE_TOTALS = (
    select(
        func.count().label("subscriptions"),
        func.coalesce(func.sum(feeds.c.entry_count), 0).label("entries"),
        _everything.label("of"),
    )
    .select_from(subscriptions.join(feeds, feeds.c.id == subscriptions.c.feed_id))
    .where(subscriptions.c.user_id == _user)
)


async def choose_driving_index(
    db: Database, question: PreparedSearch, user_id: int, wanted: int
) -> ConditionShape | None:
    """What to begin with: a narrow condition, `WORDS`, or the date (None). `wanted`: when a walk may end."""
    if db.dialect_name == "mysql":
        return WORDS if question.has_match else None
    for shape in question.shape.parts:
        if shape.kind in _COUNTS and await _is_few(db, shape, question, user_id):
            return shape
    if db.dialect_name == "postgresql" and question.has_match:
        return await _find_lead_of_words(db, question, user_id, wanted)
    if await _sees_few_entries(db, question, user_id):
        return VISIBLE
    return WORDS if question.has_match else None


async def _find_lead_of_words(
    db: Database, question: PreparedSearch, user_id: int, wanted: int
) -> ConditionShape | None:
    """For PostgreSQL, by how many matches it expects."""
    [plan] = await db.query(_EXPECTED, {"match": question.params["match"]})
    expected = int(msgspec.json.decode(plan["QUERY PLAN"])[0]["Plan"]["Plan Rows"])
    if expected <= RARE:
        return WORDS
    [sight] = await db.query(_VISIBLE_TOTALS, {"user_id": user_id})
    if sight["subscriptions"] <= FEW_SUBSCRIPTIONS and await _is_few(db, VISIBLE, question, user_id):
        return VISIBLE
    # Walking by date until enough was met, or fetching all that match.
    total = max(sight["of"], 1)
    share = min(int(sight["entries"]) / total, 1)
    return None if share > 0 and expected > sqrt(LOOK * wanted * total / share) else WORDS


def entries_of_lead(lead: ConditionShape) -> Select[Any] | CompoundSelect[Any]:
    """The entries of a condition to begin with."""
    match lead.kind:
        case "feeds":
            return _of_feeds(lead.name)
        case "labels":
            return _of_labels(lead.name)
        case kind:
            return _FIXED[kind]


async def _is_few(db: Database, shape: ConditionShape, question: PreparedSearch, user_id: int) -> bool:
    params = {"user_id": user_id, "listed": question.params.get(shape.name)}
    [row] = await db.query(_COUNTS[shape.kind], params)
    return int(row["members"]) <= FEW


async def _sees_few_entries(db: Database, question: PreparedSearch, user_id: int) -> bool:
    [row] = await db.query(_SUBSCRIPTIONS, {"user_id": user_id})
    return row["members"] <= FEW_SUBSCRIPTIONS and await _is_few(db, VISIBLE, question, user_id)
