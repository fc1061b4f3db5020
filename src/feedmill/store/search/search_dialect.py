"""What differs between databases in a search: a port, with a module for each database in this folder.

D1 is SQLite. A new database needs a module here that is named as its SQLAlchemy dialect and has a `DIALECT`.
"""

from functools import cache
from typing import Any, NamedTuple, Protocol

from sqlalchemy import ColumnElement, FromClause, Select, select

from feedmill.optional_imports import import_by_name
from feedmill.store.database import Database
from feedmill.store.search.conditions import Sql
from feedmill.store.search.split_query import ConditionShape, PreparedSearch, TextSyntax


class IndexSql(NamedTuple):
    """The statements that write the index.

    Each takes `title`, `author` and `words`. `add` takes the entry by `feed_id` and `guid`, with its `seconds`;
    `revise` by `entry`; `add_missing` by `entry`, with its `seconds`, and adds nothing unless its `digest` is the same.
    """

    add: str
    revise: str
    add_missing: str


class SearchStart(NamedTuple):
    """The source of a search, the column by which it is ordered, and conditions on it.

    `tables` are those in the source that conditions on the entry may name. `is_visible`: the source has no entry that
    the user may not see.
    """

    source: FromClause
    place: ColumnElement[int]
    tables: tuple[FromClause, ...]
    conditions: tuple[Sql, ...] = ()
    is_visible: bool = False


class SearchDialect(TextSyntax, Protocol):
    """The full-text search of one database.

    The driving condition is what a search starts with: the words, a narrow condition, the entries that the user may see
    by date, or None for a scan of all texts by date.
    """

    index_sql: IndexSql
    indexes_in_lots: bool
    """Whether texts are indexed after they are stored, many at once (`index_in_lots.py`)."""

    def start(self, match: ConditionShape | None, driving_condition: ConditionShape | None) -> SearchStart | None:
        """Where a search begins whose driving condition is the words or the user's entries.

        None: at the table of texts, as with any other driving condition.
        """

    async def choose_driving_condition(
        self, db: Database, search: PreparedSearch, user_id: int, limit: int
    ) -> ConditionShape | None:
        """The driving condition; a scan by date may end after `limit` matches."""

    def has_words(self, text: ConditionShape) -> Sql:
        """The condition that a text has the words of a condition."""

    def has_match(self, match: ConditionShape, driving_condition: ConditionShape | None) -> Sql:
        """The condition that a text has the words of the whole search, if they are not the driving condition."""

    def walks_by_date(self, driving_condition: ConditionShape | None) -> bool:
        """Whether the index of places may be scanned to find the newest."""

    def look_up(self, entry: Select[Any]) -> Select[Any]:
        """The subquery that looks up one entry, in a form that the database does not turn into a join."""

    def matches(self, match: ConditionShape) -> Select[Any]:
        """All entries with the words of the whole search: `entry_id` and `place`, in no order."""

    def rank_value(self, driving_condition: ConditionShape | None) -> ColumnElement[Any] | None:
        """The value of each of the newest matches that ranks it; None if it is read later."""

    def rank(self, newest: FromClause, match: ConditionShape, driving_condition: ConditionShape | None) -> Select[Any]:
        """The newest matches, the best first; `rank_value` is in their column `measured`."""


def by_score(newest: FromClause, score: ColumnElement[Any]) -> Select[Any]:
    """The newest matches, those with the smallest `score` first."""
    labelled = score.label("score")
    return select(newest.c.entry_id, newest.c.place, labelled).order_by(labelled)


@cache
def search_dialect(name: str) -> SearchDialect:
    """The dialect of the database whose SQLAlchemy dialect has this name."""
    found: SearchDialect = import_by_name(f"feedmill.store.search.{name}:DIALECT")
    return found
