"""Finds and counts the stored entries that the condition of a filter matches, in feeds that the user subscribes to.

The search index finds them, newest first. Many matches of words are counted by a statement that reads the index and
then the feed of each entry. Counting, and looking for what the index can't find, is done in windows of entries by date,
so that the caller can stop when time is up.
"""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, ColumnElement, Integer, Select, and_, bindparam, case, func, literal_column, select

from feedmill.model.entry_lists import ListPosition
from feedmill.model.search_query import SearchCondition
from feedmill.store.columns import Id
from feedmill.store.database import Database
from feedmill.store.literal_limits import literal_number
from feedmill.store.schema import entries, subscriptions
from feedmill.store.search.conditions import sql_of
from feedmill.store.search.find_entries import StatementKey, keys_by_date, position_bounds
from feedmill.store.search.index_in_lots import index_waiting_texts
from feedmill.store.search.index_table import IDS_PER_SECOND, LATEST, place_of_second, place_seconds, search_texts
from feedmill.store.search.search_dialect import SearchDialect, search_dialect
from feedmill.store.search.split_query import ConditionShape, PreparedSearch, prepare_search

_own_subscription = and_(
    subscriptions.c.feed_id == entries.c.feed_id, subscriptions.c.user_id == bindparam("of_user", type_=Id)
)
_PER_SECOND: ColumnElement[int] = literal_column(str(IDS_PER_SECOND), BigInteger())
# The second alone: D1 keeps no number exactly that is as large as a place.
WINDOW_START = (
    select((search_texts.c.place // _PER_SECOND).label("second"))
    .where(search_texts.c.place < place_of_second("before"))
    .order_by(search_texts.c.place.desc())
    .limit(literal_number(1))
    .offset(bindparam("size", type_=Integer))
)
_is_subscribed = case((subscriptions.c.id.is_(None), 0), else_=1).label("is_subscribed")


class MatchKey(NamedTuple):
    """An entry that matches, with its position and its feed.

    `is_subscribed`: else the user has kept it of a feed that they left, and no filter is about it.
    """

    position: ListPosition
    feed_id: int
    is_subscribed: bool

    @property
    def entry_id(self) -> int:
        return self.position.entry_id


async def find_match_keys(
    db: Database, condition: SearchCondition, user_id: int, most: int, below: ListPosition | None = None
) -> list[MatchKey]:
    """The newest entries that match, in order, those below a position if it is given."""
    if below is None:
        # A filter is applied to stored entries once: those that wait for the index would be left out for good.
        await index_waiting_texts(db)
    dialect, search = _prepared(db, condition)
    key = await _key(db, dialect, search, user_id, most, below)
    rows = await db.query(match_keys_statement(key), _params(search, user_id, below))
    return [
        MatchKey(ListPosition(row["sort_at"], row["entry_id"]), row["feed_id"], bool(row["is_subscribed"]))
        for row in rows
    ]


def is_found_by_words(db: Database, condition: SearchCondition) -> bool:
    """Whether the index alone finds the entries that match, or a few more; else each entry must be looked at."""
    _, search = _prepared(db, condition)
    return search.match is not None and not _asks_for_text(search.shape)


async def count_matches_by_feed(db: Database, condition: SearchCondition, user_id: int) -> dict[int, int]:
    """How many entries match, by feed. The condition is one of `is_found_by_words`."""
    dialect, search = _prepared(db, condition)
    key = StatementKey(dialect, search.match, search.shape, None, 0, True)
    rows = await db.query(count_all_statement(key), _params(search, user_id, None))
    return {row["feed_id"]: row["n"] for row in rows}


async def window_start(db: Database, before: datetime | None, size: int) -> datetime | None:
    """The time from which on there are `size` entries, or some more, before a time; None if there are not so many.

    The times are whole seconds.
    """
    params = {"before": LATEST + 1 if before is None else place_seconds(before), "size": size}
    rows = await db.query(WINDOW_START, params)
    return datetime.fromtimestamp(int(rows[0]["second"]), UTC) if rows else None


def _prepared(db: Database, condition: SearchCondition) -> tuple[SearchDialect, PreparedSearch]:
    dialect = search_dialect(db.dialect_name)
    return dialect, prepare_search(condition, dialect)


async def _key(
    db: Database, dialect: SearchDialect, search: PreparedSearch, user_id: int, most: int, below: ListPosition | None
) -> StatementKey:
    driving_condition = await dialect.choose_driving_condition(db, search, user_id, most)
    return StatementKey(dialect, search.match, search.shape, driving_condition, most, below is None)


def _params(search: PreparedSearch, user_id: int, below: ListPosition | None) -> dict[str, Any]:
    return {"user_id": user_id, "of_user": user_id, **search.params, **position_bounds(below)}


def _asks_for_text(shape: ConditionShape) -> bool:
    """Whether a part of it is about words, beside those of the whole search."""
    return shape.kind == "text" or any(map(_asks_for_text, shape.parts))


@lru_cache(maxsize=256)
def match_keys_statement(key: StatementKey) -> Select[Any]:
    """The statement for the keys of a page of the newest matches, in order."""
    keys = keys_by_date(key).subquery("keys")
    joined = keys.join(entries, entries.c.id == keys.c.entry_id).outerjoin(subscriptions, _own_subscription)
    columns = (keys.c.entry_id, entries.c.sort_at, entries.c.feed_id, _is_subscribed)
    return select(*columns).select_from(joined).order_by(keys.c.place.desc())


@lru_cache(maxsize=256)
def count_all_statement(key: StatementKey) -> Select[Any]:
    """The statement that counts all matches of words by feed, with conditions on the entry."""
    assert key.match is not None
    matches = key.dialect.matches(key.match).subquery("matches")
    joined = matches.join(entries, entries.c.id == matches.c.entry_id).join(subscriptions, _own_subscription)
    return (
        select(entries.c.feed_id, func.count().label("n"))
        .select_from(joined)
        .where(sql_of(key.shape, matches.c.place, key.dialect.has_words))
        .group_by(entries.c.feed_id)
    )
