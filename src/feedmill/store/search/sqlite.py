"""Search on SQLite and D1: an FTS5 index. Texts are added in lots; triggers follow what is changed and deleted.

The rowid of the index is the entry's place, so FTS5 scans by date. A common word costs no more than a rare one.
"""

# ruff: noqa: S608 (what is put together here are constants)

from typing import Any

from sqlalchemy import BigInteger, ColumnElement, FromClause, Select, String, bindparam, column, func, select, table
from sqlalchemy.sql.expression import literal_column

from feedmill.model.search_query import And, Not, Or, SearchCondition, SearchField, TextMatch
from feedmill.store.database import Database
from feedmill.store.search.conditions import Sql
from feedmill.store.search.driving_index import VISIBLE, WORDS, find_narrow_condition, sees_few_entries
from feedmill.store.search.index_table import (
    EARLIEST,
    ENTRY_ID,
    IDS_PER_SECOND,
    IF_UNCHANGED,
    PLACE,
    search_texts,
)
from feedmill.store.search.search_dialect import IndexSql, SearchDialect, SearchStart, by_score
from feedmill.store.search.split_query import ConditionShape, PreparedSearch, no_text

# The weight of a word in a title, in an author's name, in a text.
WEIGHTS = (10.0, 5.0, 1.0)

_COLUMNS: dict[SearchField, str] = {"title": "title : ", "author": "author : ", "text": "words : ", "any": ""}
_index = table("search_index", column("rowid", BigInteger))
_bm25 = func.bm25(literal_column("search_index"), *map(literal_column, map(str, WEIGHTS)))


def fts5(condition: SearchCondition) -> str:
    """The condition in the syntax of FTS5."""
    match condition:
        case TextMatch(words, scope, prefix):
            return f'({_COLUMNS[scope]}"{" ".join(words)}"{" *" if prefix else ""})'
        case Or(parts):
            return f"({' OR '.join(map(fts5, parts))})"
        case And(parts):
            required = " AND ".join(fts5(part) for part in parts if not isinstance(part, Not))
            excluded = "".join(f" NOT {fts5(part.part)}" for part in parts if isinstance(part, Not))
            return f"(({required}){excluded})"
    raise no_text(condition)


def _is_match(name: str) -> Sql:
    return literal_column("search_index").op("MATCH", is_comparison=True)(bindparam(name, type_=String()))


_WORDS_START = SearchStart(
    _index.join(search_texts, search_texts.c.place == _index.c.rowid),
    _index.c.rowid,
    (search_texts, _index),
    (_is_match("match"),),
)


class SqliteSearch:
    # `revise` is an upsert, because an update would take one statement per entry on D1; it also adds a missing row.
    index_sql: IndexSql = IndexSql(
        add="INSERT INTO search_texts (place, entry_id, title, author, words) "
        f"VALUES ({PLACE}{ENTRY_ID}, {ENTRY_ID}, :title, :author, :words)",
        revise="INSERT INTO search_texts (place, entry_id, title, author, words) VALUES "
        f"((SELECT MAX(CAST(strftime('%s', sort_at) AS INTEGER), {EARLIEST}) * {IDS_PER_SECOND} + id "
        "FROM entries WHERE id = :entry), "
        ":entry, :title, :author, :words) ON CONFLICT (entry_id) DO UPDATE "
        "SET title = excluded.title, author = excluded.author, words = excluded.words",
        add_missing="INSERT INTO search_texts (place, entry_id, title, author, words) "
        f"SELECT {PLACE}id, id, :title, :author, :words {IF_UNCHANGED}",
    )
    indexes_in_lots: bool = True
    compares_phrases = False

    def start(self, match: ConditionShape | None, driving_condition: ConditionShape | None) -> SearchStart | None:
        return _WORDS_START if match and driving_condition == WORDS else None

    def match_text(self, condition: SearchCondition) -> str:
        return fts5(condition)

    async def choose_driving_condition(
        self, db: Database, search: PreparedSearch, user_id: int, limit: int
    ) -> ConditionShape | None:
        """A narrow condition, or the words, whose index is scanned by date too."""
        if (narrow := await find_narrow_condition(db, search, user_id)) is not None:
            return narrow
        if await sees_few_entries(db, search, user_id):
            return VISIBLE
        return WORDS if search.match else None

    def has_words(self, text: ConditionShape) -> Sql:
        # The + 0 keeps SQLite from starting with all matches.
        return (search_texts.c.place + 0).in_(select(_index.c.rowid).where(_is_match(text.name)))

    def has_match(self, match: ConditionShape, driving_condition: ConditionShape | None) -> Sql:
        return self.has_words(match)

    def walks_by_date(self, driving_condition: ConditionShape | None) -> bool:
        return True

    def look_up(self, entry: Select[Any]) -> Select[Any]:
        return entry

    def matches(self, match: ConditionShape) -> Select[Any]:
        """From the index alone: the place has the id in its last bits."""
        entry_id = _index.c.rowid.op("&", return_type=BigInteger())(literal_column(str(IDS_PER_SECOND - 1)))
        return select(entry_id.label("entry_id"), _index.c.rowid.label("place")).where(_is_match("match"))

    def rank_value(self, driving_condition: ConditionShape | None) -> ColumnElement[Any] | None:
        """None: FTS5 can rank only rows that it selects itself."""
        return _bm25 if driving_condition == WORDS else None

    def rank(self, newest: FromClause, match: ConditionShape, driving_condition: ConditionShape | None) -> Select[Any]:
        if driving_condition == WORDS:
            return by_score(newest, newest.c.measured)
        again = newest.join(_index, _index.c.rowid == newest.c.place)
        return by_score(newest, _bm25).select_from(again).where(_is_match("match"))


DIALECT: SearchDialect = SqliteSearch()
