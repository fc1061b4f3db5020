"""Finds the entries that match a search, newest or best first, among those that a user may see.

Words lead: SQLite walks its index by date from the newest match on, so that a common word costs no more than a rare
one. By rank, the newest `RANKED` matches are weighed and no more, for the same reason.
"""

from collections.abc import Callable
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    FromClause,
    Integer,
    Select,
    String,
    bindparam,
    column,
    exists,
    false,
    func,
    literal_column,
    select,
    table,
)

from feedmill.model.entry_lists import ListPosition
from feedmill.model.search_query import SearchCondition
from feedmill.model.timestamps import from_iso
from feedmill.store.database import Database
from feedmill.store.entries.visible_entries import ListedEntries, select_listed_entries, to_listed_entries
from feedmill.store.page_sizes import literal_number, page_size_for
from feedmill.store.schema import entries
from feedmill.store.search.conditions import Sql, is_visible, place_of_second, sql_of
from feedmill.store.search.driving_index import WORDS, choose_driving_index, entries_of_lead
from feedmill.store.search.functions import Against, ToTsquery
from feedmill.store.search.index import IDS_PER_SECOND, place_seconds, search_texts
from feedmill.store.search.query_shapes import ConditionShape, prepare_search

RANKED = 500
# How much more a word weighs in a title, in an author's name, in a text.
WEIGHTS = (10.0, 5.0, 1.0)

_index = table("search_index", column("rowid", BigInteger))


class StatementKey(NamedTuple):
    """What the statement of a page depends on. The first page says so: its plan can be kept."""

    dialect: str
    has_match: bool
    shape: ConditionShape
    lead: ConditionShape | None
    size: int
    is_first: bool


async def find_newest_matches(
    db: Database, condition: SearchCondition, user_id: int, most: int, below: ListPosition | None = None
) -> ListedEntries:
    """The newest entries for which the condition holds, from `below` on, in order."""
    question = prepare_search(condition, db.dialect_name)
    lead = await choose_driving_index(db, question, user_id, most)
    asked = StatementKey(db.dialect_name, question.has_match, question.shape, lead, page_size_for(most), below is None)
    return await _found_by(db, newest_statement(asked), most, {**_of(user_id), **question.params, **_bounds(below)})


async def find_best_matches(
    db: Database, condition: SearchCondition, user_id: int, most: int, skipped: int = 0
) -> ListedEntries:
    """The entries that fit best, `skipped` of them left out; without words, the newest."""
    question = prepare_search(condition, db.dialect_name)
    lead = await choose_driving_index(db, question, user_id, RANKED)
    asked = StatementKey(db.dialect_name, question.has_match, question.shape, lead, page_size_for(most), skipped == 0)
    return await _found_by(db, best_statement(asked), most, {**_of(user_id), **question.params, "skipped": skipped})


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
        # Plus nothing: else PostgreSQL reads its index of places as well as what leads.
        walks = asked.dialect != "postgresql" or asked.lead in (None, WORDS)
        found = found.where((place if walks else place + 0) < bound)
    return _newest(asked, found, place, asked.size)


def keys_by_rank(asked: StatementKey) -> Select[Any]:
    """The statement for the keys of a page of the best; `worth` is the less, the better they fit."""
    found, place = _found(asked)
    if asked.has_match and _can_measure(asked):
        found = found.add_columns(_MEASURED[asked.dialect].label("measured"))
    newest = _newest(asked, found, place, RANKED).subquery("newest")
    page = _best(asked, newest) if asked.has_match else _weighed(newest, literal_column("0"))
    page = page.order_by(newest.c.place.desc()).limit(literal_number(asked.size))
    return page if asked.is_first else page.offset(bindparam("skipped", type_=Integer()))


def _weighed(newest: FromClause, worth: ColumnElement[Any]) -> Select[Any]:
    weighed = worth.label("worth")
    return select(newest.c.entry_id, newest.c.place, weighed).order_by(weighed)


def _can_measure(asked: StatementKey) -> bool:
    return asked.dialect != "sqlite" or asked.lead == WORDS


def _best(asked: StatementKey, newest: FromClause) -> Select[Any]:
    """The newest by how well the words fit."""
    if asked.dialect != "sqlite":
        return _weighed(newest, -_WORTH[asked.dialect](newest.c.measured))
    if _can_measure(asked):
        return _weighed(newest, newest.c.measured)
    again = newest.join(_index, _index.c.rowid == newest.c.place)
    return _weighed(newest, _BM25).select_from(again).where(_fts5("match"))


def _newest(asked: StatementKey, found: Select[Any], place: ColumnElement[int], size: int) -> Select[Any]:
    if asked.dialect != "postgresql" or asked.lead in (None, WORDS):
        return found.order_by(place.desc()).limit(literal_number(size))
    # All of it before it is ordered: else PostgreSQL walks by date after all.
    fenced = found.offset(literal_number(0)).subquery("fenced")
    return select(fenced).order_by(fenced.c.place.desc()).limit(literal_number(size))


def _found(asked: StatementKey) -> tuple[Select[Any], ColumnElement[int]]:
    """Everything that the search finds, and the column that it can be ordered by."""
    source, place, conditions = _beginning(asked)
    dated = [sql_of(part, place, _TEXT[asked.dialect]) for part in asked.shape.parts if part.kind == "dated"]
    found = select(search_texts.c.entry_id, place.label("place")).select_from(source)
    return found.where(*conditions, *dated, _holds(asked, place)), place


def _beginning(asked: StatementKey) -> tuple[FromClause, ColumnElement[int], list[Sql]]:
    """Where the search begins, the column by which that is ordered, and what else is asked there."""
    if asked.lead == WORDS and asked.dialect == "sqlite":
        return _index.join(search_texts, search_texts.c.place == _index.c.rowid), _index.c.rowid, [_fts5("match")]
    if asked.lead == WORDS and asked.dialect == "postgresql":
        return _matched.join(search_texts, search_texts.c.entry_id == _matched.c.entry_id), _matched.c.place, []
    conditions: list[Sql] = [_TEXT[asked.dialect]("match")] if asked.has_match else []
    if asked.lead is None and asked.dialect == "postgresql":
        # PostgreSQL then can neither begin with the words nor guess from them: its plan is as good for any word.
        conditions = [func.coalesce(condition, false()) for condition in conditions]
    if asked.lead is not None and asked.lead != WORDS:
        conditions.append(search_texts.c.entry_id.in_(entries_of_lead(asked.lead)))
    return search_texts, search_texts.c.place, conditions


def _holds(asked: StatementKey, place: ColumnElement[int]) -> Sql:
    """Whether the entry is one that the user may see and that fits, looked up for each that the index names."""
    rest = [sql_of(part, place, _TEXT[asked.dialect]) for part in asked.shape.parts if part.kind != "dated"]
    entry: Select[Any] = select(literal_column("1")).where(entries.c.id == search_texts.c.entry_id, is_visible, *rest)
    entry = entry.select_from(entries).correlate(search_texts, _index, _matched)
    # With an offset PostgreSQL does not turn it into a join with all entries.
    return exists(entry.offset(literal_number(0)) if asked.dialect == "postgresql" else entry)


def _fts5(name: str) -> Sql:
    return literal_column("search_index").op("MATCH", is_comparison=True)(bindparam(name, type_=String()))


def _in_fts5(name: str) -> Sql:
    # Plus nothing: SQLite would begin with all that match.
    return (search_texts.c.place + 0).in_(select(_index.c.rowid).where(_fts5(name)))


def _tsquery(name: str) -> ColumnElement[Any]:
    query = ToTsquery(literal_column("'simple'"), bindparam(name, type_=String()))
    # In a select of its own: else PostgreSQL guesses from the words, and makes its plan anew for others.
    return select(query).scalar_subquery()


def _in_tsvector(name: str, vector: ColumnElement[Any] = search_texts.c.words) -> Sql:
    return vector.op("@@", is_comparison=True)(_tsquery(name))


def _against(name: str) -> Sql:
    return Against(search_texts.c.words, bindparam(name, type_=String()))


_TEXT = {"sqlite": _in_fts5, "postgresql": _in_tsvector, "mysql": _against}
# For PostgreSQL: all that have the words, by date, before anything is looked up for the few that are wanted. With an
# offset, or it would walk by date after all.
_all_texts = search_texts.alias("all_texts")
_matched = (
    select(_all_texts.c.entry_id, _all_texts.c.place)
    .where(_in_tsvector("match", _all_texts.c.words))
    .order_by(_all_texts.c.place.desc())
    .offset(literal_number(0))
    .subquery("matched")
)
_BM25 = func.bm25(literal_column("search_index"), *map(literal_column, map(str, WEIGHTS)))
# What is read of each of the newest, and what it is worth then. PostgreSQL's rank needs the whole vector, which is
# better not looked at before the newest are known.
_MEASURED: dict[str, ColumnElement[Any]] = {
    "sqlite": _BM25,
    "postgresql": search_texts.c.words,
    "mysql": _against("match"),
}
_WORTH: dict[str, Callable[[ColumnElement[Any]], ColumnElement[Any]]] = {
    "postgresql": lambda vector: func.ts_rank(vector, _tsquery("match")),
    "mysql": lambda score: score,
}
