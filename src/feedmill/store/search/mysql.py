"""Search on MySQL: words with a prefix for their field (`tz` title, `az` author, `xz` text).

Its full-text index has no weights and ignores short and common words. Words are always the driving condition.
"""

# ruff: noqa: S608 (what is put together here are constants)

from typing import Any

from sqlalchemy import ColumnElement, Float, FromClause, Select, String, bindparam, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from feedmill.model.search_query import And, Not, Or, SearchCondition, SearchField, TextMatch
from feedmill.store.database import Database
from feedmill.store.search.conditions import Sql
from feedmill.store.search.driving_index import WORDS
from feedmill.store.search.index_table import ENTRY_ID, IF_UNCHANGED, PLACE, search_texts
from feedmill.store.search.search_dialect import IndexSql, SearchDialect, SearchStart, by_score
from feedmill.store.search.split_query import ConditionShape, PreparedSearch, no_text, without_not

_PREFIXES: dict[SearchField, tuple[str, ...]] = {
    "title": ("tz",),
    "author": ("az",),
    "text": ("xz",),
    "any": ("tz", "az", "xz"),
}
_WORDS = (
    "CONCAT('tz', REPLACE(:title, ' ', ' tz'), ' az', REPLACE(:author, ' ', ' az'), ' xz', REPLACE(:words, ' ', ' xz'))"
)


class Against(FunctionElement[Any]):
    """`MATCH (column) AGAINST (query IN BOOLEAN MODE)`: zero when a row does not fit.

    SQLAlchemy has it only in its MySQL dialect, which takes megabytes and is only imported for MySQL.
    """

    name = "against"
    type = Float()
    inherit_cache = True


@compiles(Against, "mysql")
def _match_against(element: Against, compiler: SQLCompiler, **kw: Any) -> str:
    column, query = (compiler.process(part, **kw) for part in element.clauses)
    return f"MATCH ({column}) AGAINST ({query} IN BOOLEAN MODE)"


def boolean_mode(condition: SearchCondition) -> str:
    """The condition in the syntax of MATCH … AGAINST in boolean mode."""
    match condition:
        case TextMatch(words, scope, prefix):
            return f"({' '.join(_phrase(words, mark, prefix) for mark in _PREFIXES[scope])})"
        case Or(parts):
            return f"({' '.join(map(boolean_mode, parts))})"
        case And(parts):
            return f"({' '.join(_sign(part) + boolean_mode(without_not(part)) for part in parts)})"
    raise no_text(condition)


def _phrase(words: tuple[str, ...], mark: str, prefix: bool) -> str:
    marked = [f"{mark}{word}" for word in words]
    if len(marked) == 1:
        return f"{marked[0]}{'*' if prefix else ''}"
    if not prefix:
        return f'"{" ".join(marked)}"'
    # A phrase can't end with a prefix, so these words match in any order.
    return f"({' '.join(f'+{word}' for word in marked)}*)"


def _sign(part: SearchCondition) -> str:
    return "-" if isinstance(part, Not) else "+"


class MysqlSearch:
    index_sql: IndexSql = IndexSql(
        add=f"INSERT INTO search_texts (place, entry_id, words) VALUES ({PLACE}{ENTRY_ID}, {ENTRY_ID}, {_WORDS})",
        revise=f"UPDATE search_texts SET words = {_WORDS} WHERE entry_id = :entry",
        add_missing=f"INSERT INTO search_texts (place, entry_id, words) SELECT {PLACE}id, id, {_WORDS} {IF_UNCHANGED}",
    )
    indexes_in_lots: bool = False
    compares_phrases = False

    def start(self, match: ConditionShape | None, driving_condition: ConditionShape | None) -> SearchStart | None:
        return None

    def match_text(self, condition: SearchCondition) -> str:
        return boolean_mode(condition)

    async def choose_driving_condition(
        self, db: Database, search: PreparedSearch, user_id: int, limit: int
    ) -> ConditionShape | None:
        return WORDS if search.match else None

    def has_words(self, text: ConditionShape) -> Sql:
        return Against(search_texts.c.words, bindparam(text.name, type_=String()))

    def has_match(self, match: ConditionShape, driving_condition: ConditionShape | None) -> Sql:
        return self.has_words(match)

    def walks_by_date(self, driving_condition: ConditionShape | None) -> bool:
        return True

    def look_up(self, entry: Select[Any]) -> Select[Any]:
        return entry

    def matches(self, match: ConditionShape) -> Select[Any]:
        return select(search_texts.c.entry_id, search_texts.c.place).where(self.has_words(match))

    def rank_value(self, driving_condition: ConditionShape | None) -> ColumnElement[Any] | None:
        return Against(search_texts.c.words, bindparam("match", type_=String()))

    def rank(self, newest: FromClause, match: ConditionShape, driving_condition: ConditionShape | None) -> Select[Any]:
        return by_score(newest, -newest.c.measured)


DIALECT: SearchDialect = MysqlSearch()
