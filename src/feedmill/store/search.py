"""Entries found by words and conditions, only among those that a user may see; with what a list shows of them.

Words lead: SQLite walks its index by date from the newest match on, so that a common word costs no more than a rare
one. By rank, the newest `RANKED` matches are weighed and no more, for the same reason.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

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
    func,
    literal_column,
    select,
    table,
)
from sqlalchemy.dialects.mysql import match

from feedmill.model.reading import Place
from feedmill.model.search import Condition
from feedmill.model.times import from_text
from feedmill.store.database import Database, Row
from feedmill.store.schema import entries
from feedmill.store.search_conditions import Sql, first_second, is_visible, sql_of
from feedmill.store.search_leads import WORDS, find_lead, members_of
from feedmill.store.search_shapes import Question, Shape, take_apart
from feedmill.store.search_texts import IDS, LATEST, seconds_of, texts
from feedmill.store.shown import by_entry, shown_of

RANKED = 500
# How much more a word weighs in a title, in an author's name, in a text.
WEIGHTS = (10.0, 5.0, 1.0)

_index = table("search_index", column("rowid", BigInteger))
_most = bindparam("most", type_=Integer())


async def find_newest(
    db: Database, condition: Condition, user_id: int, most: int, below: Place | None = None
) -> dict[int, list[Row]]:
    """The newest entries for which the condition holds, from `below` on: by id, in order, what is shown of each."""
    question = take_apart(condition, db.dialect_name)
    lead = await find_lead(db, question, user_id, most)
    statement = newest_shown(db.dialect_name, question.has_match, question.shape, lead)
    return await _found_by(db, statement, question, user_id, {"most": most, **_bounds(below)})


async def find_best(
    db: Database, condition: Condition, user_id: int, most: int, skipped: int = 0
) -> dict[int, list[Row]]:
    """The entries that fit best, `skipped` of them left out; without words, the newest."""
    question = take_apart(condition, db.dialect_name)
    lead = await find_lead(db, question, user_id, RANKED)
    statement = best_shown(db.dialect_name, question.has_match, question.shape, lead)
    return await _found_by(db, statement, question, user_id, {"most": most, "skipped": skipped})


async def _found_by(
    db: Database, statement: Select[Any], question: Question, user_id: int, page: dict[str, int]
) -> dict[int, list[Row]]:
    user = {"user_id": user_id, "of_user": user_id}
    return by_entry(await db.query(statement, {**user, **question.params, **page}))


def _bounds(below: Place | None) -> dict[str, int]:
    if below is None:
        return {"below_second": LATEST, "below_id": IDS}
    return {"below_second": seconds_of(from_text(below.at)), "below_id": min(below.entry_id, IDS)}


@lru_cache(maxsize=256)
def newest_shown(dialect: str, has_match: bool, shape: Shape, lead: Shape | None) -> Select[Any]:
    """The statement for a page of the newest with what is shown of it."""
    keys = by_date(dialect, has_match, shape, lead).subquery("keys")
    return shown_of(keys).order_by(keys.c.place.desc())


@lru_cache(maxsize=256)
def best_shown(dialect: str, has_match: bool, shape: Shape, lead: Shape | None) -> Select[Any]:
    """The statement for a page of the best with what is shown of it."""
    keys = by_rank(dialect, has_match, shape, lead).subquery("keys")
    return shown_of(keys).order_by(keys.c.worth, keys.c.place.desc())


def by_date(dialect: str, has_match: bool, shape: Shape, lead: Shape | None) -> Select[Any]:
    """The statement for the keys of a page of the newest."""
    found, place = _found(dialect, has_match, shape, lead)
    bound = first_second("below_second") + bindparam("below_id", type_=BigInteger())
    # Plus nothing: else PostgreSQL reads its index of places as well as that of the words.
    walks = dialect != "postgresql" or lead is None
    return _newest(dialect, found.where((place if walks else place + 0) < bound), place, lead, _most)


def by_rank(dialect: str, has_match: bool, shape: Shape, lead: Shape | None) -> Select[Any]:
    """The statement for the keys of a page of the best; `worth` is the less, the better they fit."""
    found, place = _found(dialect, has_match, shape, lead)
    if has_match and _can_measure(dialect, lead):
        found = found.add_columns(_MEASURED[dialect].label("measured"))
    newest = _newest(dialect, found, place, lead, literal_column(str(RANKED))).subquery("newest")
    page = _best(dialect, newest, lead) if has_match else _weighed(newest, literal_column("0"))
    return page.order_by(newest.c.place.desc()).limit(_most).offset(bindparam("skipped", type_=Integer()))


def _weighed(newest: FromClause, worth: ColumnElement[Any]) -> Select[Any]:
    weighed = worth.label("worth")
    return select(newest.c.entry_id, newest.c.place, weighed).order_by(weighed)


def _can_measure(dialect: str, lead: Shape | None) -> bool:
    return dialect != "sqlite" or lead == WORDS


def _best(dialect: str, newest: FromClause, lead: Shape | None) -> Select[Any]:
    """The newest by how well the words fit."""
    if dialect != "sqlite":
        return _weighed(newest, -_WORTH[dialect](newest.c.measured))
    if _can_measure(dialect, lead):
        return _weighed(newest, newest.c.measured)
    again = newest.join(_index, _index.c.rowid == newest.c.place)
    return _weighed(newest, _BM25).select_from(again).where(_fts5("match"))


def _newest(
    dialect: str, found: Select[Any], place: ColumnElement[int], lead: Shape | None, most: ColumnElement[int]
) -> Select[Any]:
    if dialect != "postgresql" or lead is None:
        return found.order_by(place.desc()).limit(most)
    # All of it before it is ordered: else PostgreSQL walks by date after all.
    fenced = found.offset(literal_column("0")).subquery("fenced")
    return select(fenced).order_by(fenced.c.place.desc()).limit(most)


def _found(dialect: str, has_match: bool, shape: Shape, lead: Shape | None) -> tuple[Select[Any], ColumnElement[int]]:
    """Everything that the search finds, and the column that it can be ordered by."""
    by_index = lead == WORDS and dialect == "sqlite"
    place = _index.c.rowid if by_index else texts.c.place
    source = _index.join(texts, texts.c.place == _index.c.rowid) if by_index else texts
    found = select(texts.c.entry_id, place.label("place")).select_from(source)
    if has_match:
        found = found.where(_fts5("match") if by_index else _TEXT[dialect]("match"))
    if lead is not None and lead != WORDS:
        found = found.where(texts.c.entry_id.in_(members_of(lead)))
    dated = [sql_of(part, place, _TEXT[dialect]) for part in shape.parts if part.kind == "dated"]
    return found.where(*dated, _holds(dialect, shape, place)), place


def _holds(dialect: str, shape: Shape, place: ColumnElement[int]) -> Sql:
    """Whether the entry is one that the user may see and that fits, looked up for each that the index names."""
    rest = [sql_of(part, place, _TEXT[dialect]) for part in shape.parts if part.kind != "dated"]
    entry: Select[Any] = select(literal_column("1")).where(entries.c.id == texts.c.entry_id, is_visible, *rest)
    entry = entry.select_from(entries).correlate(texts, _index)
    # With an offset PostgreSQL does not turn it into a join with all entries.
    return exists(entry.offset(literal_column("0")) if dialect == "postgresql" else entry)


def _fts5(name: str) -> Sql:
    return literal_column("search_index").op("MATCH", is_comparison=True)(bindparam(name, type_=String()))


def _in_fts5(name: str) -> Sql:
    # Plus nothing: SQLite would begin with all that match.
    return (texts.c.place + 0).in_(select(_index.c.rowid).where(_fts5(name)))


def _tsquery(name: str) -> ColumnElement[Any]:
    return func.to_tsquery(literal_column("'simple'"), bindparam(name, type_=String()))


def _in_tsvector(name: str) -> Sql:
    return texts.c.words.op("@@", is_comparison=True)(_tsquery(name))


def _against(name: str) -> Any:
    return match(texts.c.words, against=bindparam(name, type_=String())).in_boolean_mode()


_TEXT = {"sqlite": _in_fts5, "postgresql": _in_tsvector, "mysql": _against}
_BM25 = func.bm25(literal_column("search_index"), *map(literal_column, map(str, WEIGHTS)))
# What is read of each of the newest, and what it is worth then. PostgreSQL's rank needs the whole vector, which is
# better not looked at before the newest are known.
_MEASURED: dict[str, ColumnElement[Any]] = {
    "sqlite": _BM25,
    "postgresql": texts.c.words,
    "mysql": _against("match"),
}
_WORTH: dict[str, Callable[[ColumnElement[Any]], ColumnElement[Any]]] = {
    "postgresql": lambda vector: func.ts_rank(vector, _tsquery("match")),
    "mysql": lambda score: score,
}
