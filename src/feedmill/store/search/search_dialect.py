"""What differs between databases in a search: a port, with a module for each database in this folder.

D1 is SQLite. A new database needs a module here that is named as its SQLAlchemy dialect and has a `DIALECT`.
"""

from functools import cache
from typing import Any, NamedTuple, Protocol

from sqlalchemy import ColumnElement, FromClause, Select, select

from feedmill.model.search_query import SearchCondition
from feedmill.optional_imports import import_by_name
from feedmill.store.database import Database
from feedmill.store.search.conditions import Sql
from feedmill.store.search.split_query import ConditionShape, PreparedSearch


class IndexSql(NamedTuple):
    """The statements that write the index.

    Each takes `title`, `author` and `words`. `add` takes the entry by `feed_id` and `guid`, with its `seconds`;
    `revise` by `entry`; `add_missing` by `entry`, with its `seconds`, and adds nothing unless its `digest` is the same.
    """

    add: str
    revise: str
    add_missing: str


class SearchStart(NamedTuple):
    """What a search selects from, the column by which that is ordered, and what must hold there.

    `tables` are those in the source that conditions on the entry may name.
    """

    source: FromClause
    place: ColumnElement[int]
    tables: tuple[FromClause, ...]
    conditions: tuple[Sql, ...] = ()


class SearchDialect(Protocol):
    """The full-text search of one database.

    The driving condition is what a search begins with: the words, a narrow condition, or (None) the date.
    """

    index_sql: IndexSql
    words_start: SearchStart | None
    """Where a search begins whose driving condition is the words; None: at the table of texts, as any other."""

    def match_text(self, condition: SearchCondition) -> str:
        """Words and phrases in the full-text syntax of the database; `TypeError` for what is no text."""

    async def choose_driving_condition(
        self, db: Database, search: PreparedSearch, user_id: int, limit: int
    ) -> ConditionShape | None:
        """What to begin with; a walk by date may end when it has found as many as `limit`."""

    def has_words(self, name: str) -> Sql:
        """Whether a text has the words of the parameter `name`."""

    def has_match(self, driving_condition: ConditionShape | None) -> Sql:
        """Whether a text has the words of the whole search, where something else is the driving condition."""

    def walks_by_date(self, driving_condition: ConditionShape | None) -> bool:
        """Whether the index of places may be walked to find the newest."""

    def look_up(self, entry: Select[Any]) -> Select[Any]:
        """The subquery that looks up one entry, so that it stays one."""

    def rank_value(self, driving_condition: ConditionShape | None) -> ColumnElement[Any] | None:
        """What is read of each of the newest to rank it; None when it is read later."""

    def rank(self, newest: FromClause, driving_condition: ConditionShape | None) -> Select[Any]:
        """The newest in the order of how well the words fit; `rank_value` is in their column `measured`."""


def by_score(newest: FromClause, score: ColumnElement[Any]) -> Select[Any]:
    """The newest, those of the least `score` first."""
    labelled = score.label("score")
    return select(newest.c.entry_id, newest.c.place, labelled).order_by(labelled)


@cache
def search_dialect(name: str) -> SearchDialect:
    """The dialect of the database whose SQLAlchemy dialect has this name."""
    found: SearchDialect = import_by_name(f"feedmill.store.search.{name}:DIALECT")
    return found
