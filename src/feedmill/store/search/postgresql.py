"""Search on PostgreSQL: a tsvector with weights, and a GIN index."""

# ruff: noqa: S608 (what is put together here are constants)

from math import sqrt
from typing import Any

import msgspec
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    FromClause,
    Select,
    String,
    bindparam,
    false,
    func,
    literal_column,
    select,
    text,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from feedmill.model.search_query import And, Not, Or, SearchCondition, SearchField, TextMatch
from feedmill.store.database import Database
from feedmill.store.literal_limits import literal_number
from feedmill.store.schema import feeds, subscriptions
from feedmill.store.search.conditions import Sql
from feedmill.store.search.driving_index import (
    FEW_SUBSCRIPTIONS,
    VISIBLE,
    WORDS,
    find_narrow_condition,
    is_few,
    sees_few_entries,
)
from feedmill.store.search.index_table import ENTRY_ID, IDS_PER_SECOND, IF_UNCHANGED, search_texts
from feedmill.store.search.search_dialect import IndexSql, SearchDialect, SearchStart, by_score
from feedmill.store.search.split_query import ConditionShape, PreparedSearch, no_text

# Up to this many matches are always fetched.
RARE = 10_000
# Checking one vector during a scan by date takes as long as fetching this many matches from the index.
LOOK = 8

_WEIGHTS: dict[SearchField, str] = {"title": "A", "author": "B", "text": "D", "any": ""}
_PLACE = f"CAST(:seconds AS bigint) * {IDS_PER_SECOND} + "
_VECTOR = (
    "setweight(to_tsvector('simple', CAST(:title AS text)), 'A') || "
    "setweight(to_tsvector('simple', CAST(:author AS text)), 'B') || to_tsvector('simple', CAST(:words AS text))"
)


class ToTsquery(FunctionElement[Any]):
    """`to_tsquery(configuration, query)`.

    Not `func.to_tsquery`: the PostgreSQL compiler refuses that name unless it is SQLAlchemy's own class, which is
    in its dialect; that takes megabytes and is only imported for PostgreSQL.
    """

    name = "to_tsquery"
    inherit_cache = True


@compiles(ToTsquery, "postgresql")
def _to_tsquery(element: ToTsquery, compiler: SQLCompiler, **kw: Any) -> str:
    return f"to_tsquery({compiler.process(element.clauses, **kw)})"


def tsquery(condition: SearchCondition) -> str:
    """The condition in the syntax of `to_tsquery`."""
    match condition:
        case TextMatch(words, scope, prefix):
            weight = _WEIGHTS[scope]
            last = len(words) - 1
            marks = [f"*{weight}" if prefix and at == last else weight for at in range(len(words))]
            return f"({' <-> '.join(_lexeme(word, mark) for word, mark in zip(words, marks, strict=True))})"
        case Or(parts):
            return f"({' | '.join(map(tsquery, parts))})"
        case And(parts):
            return f"({' & '.join(map(tsquery, parts))})"
        case Not(part):
            return f"!{tsquery(part)}"
    raise no_text(condition)


def _lexeme(word: str, mark: str) -> str:
    return f"'{word}':{mark}" if mark else f"'{word}'"


def _query(name: str) -> ColumnElement[Any]:
    query = ToTsquery(literal_column("'simple'"), bindparam(name, type_=String()))
    # In a separate select: otherwise PostgreSQL plans by the words, and plans again for other words.
    return select(query).scalar_subquery()


def _is_match(name: str, vector: ColumnElement[Any] = search_texts.c.words) -> Sql:
    return vector.op("@@", is_comparison=True)(_query(name))


# All matches by date, before anything is looked up for the few that are needed. The offset keeps PostgreSQL from
# scanning by date.
_all_texts = search_texts.alias("all_texts")
_matched = (
    select(_all_texts.c.entry_id, _all_texts.c.place)
    .where(_is_match("match", _all_texts.c.words))
    .order_by(_all_texts.c.place.desc())
    .offset(literal_number(0))
    .subquery("matched")
)

# The planner's estimate, from its statistics of common words.
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
    .where(subscriptions.c.user_id == bindparam("user_id", type_=BigInteger()))
)


class PostgresqlSearch:
    index_sql: IndexSql = IndexSql(
        add=f"INSERT INTO search_texts (place, entry_id, words) VALUES ({_PLACE}{ENTRY_ID}, {ENTRY_ID}, {_VECTOR})",
        revise=f"UPDATE search_texts SET words = {_VECTOR} WHERE entry_id = :entry",
        add_missing="INSERT INTO search_texts (place, entry_id, words) "
        f"SELECT {_PLACE}id, id, {_VECTOR} {IF_UNCHANGED}",
    )
    indexes_in_lots: bool = False
    words_start: SearchStart | None = SearchStart(
        _matched.join(search_texts, search_texts.c.entry_id == _matched.c.entry_id),
        _matched.c.place,
        (search_texts, _matched),
    )

    def match_text(self, condition: SearchCondition) -> str:
        return tsquery(condition)

    async def choose_driving_condition(
        self, db: Database, search: PreparedSearch, user_id: int, limit: int
    ) -> ConditionShape | None:
        """A narrow condition, or the words unless they are so common that a scan by date is faster.

        If words are the driving condition, all that match are fetched.
        """
        if (narrow := await find_narrow_condition(db, search, user_id)) is not None:
            return narrow
        if search.has_match:
            return await _choose_for_words(db, search, user_id, limit)
        return VISIBLE if await sees_few_entries(db, search, user_id) else None

    def has_words(self, name: str) -> Sql:
        return _is_match(name)

    def has_match(self, driving_condition: ConditionShape | None) -> Sql:
        # By date, PostgreSQL then can't start with the words or plan by them: one plan serves all words.
        return func.coalesce(_is_match("match"), false()) if driving_condition is None else _is_match("match")

    def walks_by_date(self, driving_condition: ConditionShape | None) -> bool:
        """False for a narrow condition: PostgreSQL would read the index of places too."""
        return driving_condition in (None, WORDS)

    def look_up(self, entry: Select[Any]) -> Select[Any]:
        """Adds an offset, so that PostgreSQL does not turn it into a join with all entries."""
        return entry.offset(literal_number(0))

    def matches(self) -> Select[Any]:
        return select(search_texts.c.entry_id, search_texts.c.place).where(_is_match("match"))

    def rank_value(self, driving_condition: ConditionShape | None) -> ColumnElement[Any] | None:
        """None: the rank needs the whole vector, which is read only for the newest matches."""
        return search_texts.c.words

    def rank(self, newest: FromClause, driving_condition: ConditionShape | None) -> Select[Any]:
        return by_score(newest, -func.ts_rank(newest.c.measured, _query("match")))


async def _choose_for_words(db: Database, search: PreparedSearch, user_id: int, limit: int) -> ConditionShape | None:
    """Decides by the number of matches that PostgreSQL expects."""
    [plan] = await db.query(_EXPECTED, {"match": search.params["match"]})
    expected = int(msgspec.json.decode(plan["QUERY PLAN"])[0]["Plan"]["Plan Rows"])
    if expected <= RARE:
        return WORDS
    [visible] = await db.query(_VISIBLE_TOTALS, {"user_id": user_id})
    if visible["subscriptions"] <= FEW_SUBSCRIPTIONS and await is_few(db, VISIBLE, search, user_id):
        return VISIBLE
    # Scanning by date until enough are found, or fetching all matches.
    total = max(visible["of"], 1)
    share = min(int(visible["entries"]) / total, 1)
    return None if share > 0 and expected > sqrt(LOOK * limit * total / share) else WORDS


DIALECT: SearchDialect = PostgresqlSearch()
