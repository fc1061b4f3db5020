"""Finds the entries that match a search, newest or best first, among those that a user may see.

By rank, the newest `RANKED` matches are scored and no more, so that a common word costs no more than a rare one.
What differs between databases is in their modules of this folder (`search_dialect.py`).
"""

from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, ColumnElement, Integer, Select, bindparam, exists, func, literal_column, select

from feedmill.model.entry_lists import ListPosition
from feedmill.model.search_query import SearchCondition
from feedmill.model.timestamps import from_iso
from feedmill.store.database import Database
from feedmill.store.entries.visible_entries import ListedEntries, select_listed_entries, to_listed_entries
from feedmill.store.literal_limits import literal_number, round_limit_up
from feedmill.store.schema import entries
from feedmill.store.search.conditions import Sql, may_see, sql_of
from feedmill.store.search.driving_index import WORDS, entries_of_condition
from feedmill.store.search.index_in_lots import index_last_texts
from feedmill.store.search.index_table import IDS_PER_SECOND, place_of_second, place_seconds, search_texts
from feedmill.store.search.search_dialect import SearchDialect, SearchStart, by_score, search_dialect
from feedmill.store.search.split_query import ConditionShape, prepare_search

RANKED = 500


class StatementKey(NamedTuple):
    """The values on which the statement of a page depends. The first page has a statement of its own."""

    dialect: SearchDialect
    match: ConditionShape | None
    shape: ConditionShape
    driving_condition: ConditionShape | None
    size: int
    is_first: bool


async def find_newest_matches(
    db: Database, condition: SearchCondition, user_id: int, most: int, below: ListPosition | None = None
) -> ListedEntries:
    """The newest entries that match, in order, from `below` on."""
    await index_last_texts(db)
    dialect = search_dialect(db.dialect_name)
    search = prepare_search(condition, dialect)
    driving_condition = await dialect.choose_driving_condition(db, search, user_id, most)
    key = StatementKey(dialect, search.match, search.shape, driving_condition, round_limit_up(most), below is None)
    return await _found_by(db, newest_statement(key), most, {**_of(user_id), **search.params, **position_bounds(below)})


async def find_best_matches(
    db: Database, condition: SearchCondition, user_id: int, most: int, skipped: int = 0
) -> ListedEntries:
    """The best matches after the first `skipped`; the newest if the search has no words."""
    await index_last_texts(db)
    dialect = search_dialect(db.dialect_name)
    search = prepare_search(condition, dialect)
    driving_condition = await dialect.choose_driving_condition(db, search, user_id, RANKED)
    key = StatementKey(dialect, search.match, search.shape, driving_condition, round_limit_up(most), skipped == 0)
    return await _found_by(db, best_statement(key), most, {**_of(user_id), **search.params, "skipped": skipped})


async def count_matches(db: Database, condition: SearchCondition, user_id: int, most: int) -> int:
    """How many entries match, counted up to `most`."""
    await index_last_texts(db)
    dialect = search_dialect(db.dialect_name)
    search = prepare_search(condition, dialect)
    driving_condition = await dialect.choose_driving_condition(db, search, user_id, most)
    key = StatementKey(dialect, search.match, search.shape, driving_condition, most, True)
    [row] = await db.query(count_statement(key), {**_of(user_id), **search.params})
    return int(row["n"])


async def _found_by(db: Database, statement: Select[Any], most: int, params: dict[str, Any]) -> ListedEntries:
    found = to_listed_entries(await db.query(statement, params))
    return dict(islice(found.items(), most))


def _of(user_id: int) -> dict[str, int]:
    return {"user_id": user_id, "of_user": user_id}


def position_bounds(below: ListPosition | None) -> dict[str, int]:
    """The parameters of a page after the first, which begins below a position."""
    if below is None:
        return {}
    return {"below_second": place_seconds(from_iso(below.at)), "below_id": min(below.entry_id, IDS_PER_SECOND)}


@lru_cache(maxsize=256)
def newest_statement(key: StatementKey) -> Select[Any]:
    """The statement for a page of the newest matches with the columns that a list shows."""
    keys = keys_by_date(key).subquery("keys")
    return select_listed_entries(keys).order_by(keys.c.place.desc())


@lru_cache(maxsize=256)
def best_statement(key: StatementKey) -> Select[Any]:
    """The statement for a page of the best matches with the columns that a list shows."""
    keys = keys_by_rank(key).subquery("keys")
    return select_listed_entries(keys).order_by(keys.c.score, keys.c.place.desc())


@lru_cache(maxsize=256)
def count_statement(key: StatementKey) -> Select[Any]:
    """The statement that counts the matches, up to the size of the key. It walks as a page of that size does."""
    return select(func.count().label("n")).select_from(keys_by_date(key).subquery("keys"))


def keys_by_date(key: StatementKey) -> Select[Any]:
    """The statement for the keys of a page of the newest matches."""
    found, place = _found(key)
    if not key.is_first:
        bound = place_of_second("below_second") + bindparam("below_id", type_=BigInteger())
        # The + 0 keeps the index of places from being read in addition to the driving condition.
        found = found.where((place if key.dialect.walks_by_date(key.driving_condition) else place + 0) < bound)
    return _newest(key, found, place, key.size)


def keys_by_rank(key: StatementKey) -> Select[Any]:
    """The statement for the keys of a page of the best matches; a smaller `score` is a better match."""
    found, place = _found(key)
    measured = key.dialect.rank_value(key.driving_condition) if key.match else None
    if measured is not None:
        found = found.add_columns(measured.label("measured"))
    newest = _newest(key, found, place, RANKED).subquery("newest")
    if key.match:
        page = key.dialect.rank(newest, key.match, key.driving_condition)
    else:
        page = by_score(newest, literal_column("0"))
    page = page.order_by(page.selected_columns.place.desc()).limit(literal_number(key.size))
    return page if key.is_first else page.offset(bindparam("skipped", type_=Integer()))


def _newest(key: StatementKey, found: Select[Any], place: ColumnElement[int], size: int) -> Select[Any]:
    if key.dialect.walks_by_date(key.driving_condition):
        return found.order_by(place.desc()).limit(literal_number(size))
    # The offset keeps the database from scanning by date: all rows are found before they are ordered.
    fenced = found.offset(literal_number(0)).subquery("fenced")
    return select(fenced).order_by(fenced.c.place.desc()).limit(literal_number(size))


def _found(key: StatementKey) -> tuple[Select[Any], ColumnElement[int]]:
    """All matches, and the column by which they are ordered."""
    start = _start(key)
    dated = [_sql(key, part, start) for part in key.shape.parts if part.kind == "dated"]
    found = select(search_texts.c.entry_id, start.place.label("place")).select_from(start.source)
    return found.where(*start.conditions, *dated, *_entry_conditions(key, start)), start.place


def _start(key: StatementKey) -> SearchStart:
    if start := key.dialect.start(key.match, key.driving_condition):
        return start
    conditions: list[Sql] = [key.dialect.has_match(key.match, key.driving_condition)] if key.match else []
    if key.driving_condition is not None and key.driving_condition != WORDS:
        conditions.append(search_texts.c.entry_id.in_(entries_of_condition(key.driving_condition)))
    return SearchStart(search_texts, search_texts.c.place, (search_texts,), tuple(conditions))


def _entry_conditions(key: StatementKey, start: SearchStart) -> list[Sql]:
    """That the user may see the entry and the other conditions hold; evaluated for each row of the index."""
    held = [_sql(key, part, start) for part in key.shape.parts if part.kind != "dated"]
    if not start.is_visible:
        held.insert(0, may_see)
    if not held:
        return []
    entry: Select[Any] = select(literal_column("1")).where(entries.c.id == search_texts.c.entry_id, *held)
    return [exists(key.dialect.look_up(entry.select_from(entries).correlate(*start.tables)))]


def _sql(key: StatementKey, part: ConditionShape, start: SearchStart) -> Sql:
    return sql_of(part, start.place, key.dialect.has_words)
