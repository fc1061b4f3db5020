"""Finds the entries that match a search, newest or best first, among those that a user may see.

By rank, the newest `RANKED` matches are weighed and no more, so that a common word costs no more than a rare one.
What differs between databases is in their modules of this folder (`search_dialect.py`).
"""

from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, ColumnElement, Integer, Select, bindparam, exists, literal_column, select

from feedmill.model.entry_lists import ListPosition
from feedmill.model.search_query import SearchCondition
from feedmill.model.timestamps import from_iso
from feedmill.store.database import Database
from feedmill.store.entries.visible_entries import ListedEntries, select_listed_entries, to_listed_entries
from feedmill.store.page_sizes import literal_number, page_size_for
from feedmill.store.schema import entries
from feedmill.store.search.conditions import Sql, may_see, place_of_second, sql_of
from feedmill.store.search.driving_index import WORDS, entries_of_lead
from feedmill.store.search.index_table import IDS_PER_SECOND, place_seconds, search_texts
from feedmill.store.search.query_shapes import ConditionShape, prepare_search
from feedmill.store.search.search_dialect import SearchDialect, SearchStart, by_worth, search_dialect

RANKED = 500


class StatementKey(NamedTuple):
    """What the statement of a page depends on. The first page says so: its plan can be kept."""

    dialect: SearchDialect
    has_match: bool
    shape: ConditionShape
    lead: ConditionShape | None
    size: int
    is_first: bool


async def find_newest_matches(
    db: Database, condition: SearchCondition, user_id: int, most: int, below: ListPosition | None = None
) -> ListedEntries:
    """The newest entries for which the condition holds, from `below` on, in order."""
    dialect = search_dialect(db.dialect_name)
    search = prepare_search(condition, dialect.match_text)
    lead = await dialect.choose_lead(db, search, user_id, most)
    asked = StatementKey(dialect, search.has_match, search.shape, lead, page_size_for(most), below is None)
    return await _found_by(db, newest_statement(asked), most, {**_of(user_id), **search.params, **_bounds(below)})


async def find_best_matches(
    db: Database, condition: SearchCondition, user_id: int, most: int, skipped: int = 0
) -> ListedEntries:
    """The entries that fit best, `skipped` of them left out; without words, the newest."""
    dialect = search_dialect(db.dialect_name)
    search = prepare_search(condition, dialect.match_text)
    lead = await dialect.choose_lead(db, search, user_id, RANKED)
    asked = StatementKey(dialect, search.has_match, search.shape, lead, page_size_for(most), skipped == 0)
    return await _found_by(db, best_statement(asked), most, {**_of(user_id), **search.params, "skipped": skipped})


async def _found_by(db: Database, statement: Select[Any], most: int, params: dict[str, Any]) -> ListedEntries:
    found = to_listed_entries(await db.query(statement, params))
    return dict(islice(found.items(), most))


def _of(user_id: int) -> dict[str, int]:
    return {"user_id": user_id, "of_user": user_id}


def _bounds(below: ListPosition | None) -> dict[str, int]:
    if below is None:
        return {}
    return {"below_second": place_seconds(from_iso(below.at)), "below_id": min(below.entry_id, IDS_PER_SECOND)}


@lru_cache(maxsize=256)
def newest_statement(asked: StatementKey) -> Select[Any]:
    """The statement for a page of the newest with what is shown of it."""
    keys = keys_by_date(asked).subquery("keys")
    return select_listed_entries(keys).order_by(keys.c.place.desc())


@lru_cache(maxsize=256)
def best_statement(asked: StatementKey) -> Select[Any]:
    """The statement for a page of the best with what is shown of it."""
    keys = keys_by_rank(asked).subquery("keys")
    return select_listed_entries(keys).order_by(keys.c.worth, keys.c.place.desc())


def keys_by_date(asked: StatementKey) -> Select[Any]:
    """The statement for the keys of a page of the newest."""
    found, place = _found(asked)
    if not asked.is_first:
        bound = place_of_second("below_second") + bindparam("below_id", type_=BigInteger())
        # Plus nothing: else the index of places is read as well as what leads.
        found = found.where((place if asked.dialect.walks_by_date(asked.lead) else place + 0) < bound)
    return _newest(asked, found, place, asked.size)


def keys_by_rank(asked: StatementKey) -> Select[Any]:
    """The statement for the keys of a page of the best; `worth` is the less, the better they fit."""
    found, place = _found(asked)
    measured = asked.dialect.rank_value(asked.lead) if asked.has_match else None
    if measured is not None:
        found = found.add_columns(measured.label("measured"))
    newest = _newest(asked, found, place, RANKED).subquery("newest")
    page = asked.dialect.rank(newest, asked.lead) if asked.has_match else by_worth(newest, literal_column("0"))
    page = page.order_by(newest.c.place.desc()).limit(literal_number(asked.size))
    return page if asked.is_first else page.offset(bindparam("skipped", type_=Integer()))


def _newest(asked: StatementKey, found: Select[Any], place: ColumnElement[int], size: int) -> Select[Any]:
    if asked.dialect.walks_by_date(asked.lead):
        return found.order_by(place.desc()).limit(literal_number(size))
    # All of it before it is ordered: else the database walks by date after all.
    fenced = found.offset(literal_number(0)).subquery("fenced")
    return select(fenced).order_by(fenced.c.place.desc()).limit(literal_number(size))


def _found(asked: StatementKey) -> tuple[Select[Any], ColumnElement[int]]:
    """Everything that the search finds, and the column that it can be ordered by."""
    start = _start(asked)
    dated = [_sql(asked, part, start) for part in asked.shape.parts if part.kind == "dated"]
    found = select(search_texts.c.entry_id, start.place.label("place")).select_from(start.source)
    return found.where(*start.conditions, *dated, _holds(asked, start)), start.place


def _start(asked: StatementKey) -> SearchStart:
    if asked.lead == WORDS and asked.dialect.words_start is not None:
        return asked.dialect.words_start
    conditions: list[Sql] = [asked.dialect.has_match(asked.lead)] if asked.has_match else []
    if asked.lead is not None and asked.lead != WORDS:
        conditions.append(search_texts.c.entry_id.in_(entries_of_lead(asked.lead)))
    return SearchStart(search_texts, search_texts.c.place, (search_texts,), tuple(conditions))


def _holds(asked: StatementKey, start: SearchStart) -> Sql:
    """Whether the entry is one that the user may see and that fits, looked up for each that the index names."""
    rest = [_sql(asked, part, start) for part in asked.shape.parts if part.kind != "dated"]
    entry: Select[Any] = select(literal_column("1")).where(entries.c.id == search_texts.c.entry_id, may_see, *rest)
    return exists(asked.dialect.look_up(entry.select_from(entries).correlate(*start.tables)))


def _sql(asked: StatementKey, part: ConditionShape, start: SearchStart) -> Sql:
    return sql_of(part, start.place, asked.dialect.has_words)
