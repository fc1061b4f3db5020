"""Tables and views of other programs in our database: their columns, and the rows that a pool takes from them.

A row has an `id`, a whole number that grows, and its text in `title` or `content`, or `text`. If there are columns
`group_id` and `status`, only rows of the group with the status 1 are offered; `batch_id` is optional too.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Select, Text, bindparam, column, func, null, select, table, text
from sqlalchemy.sql.elements import quoted_name

from feedmill.errors import StatementRefused
from feedmill.i18n.messages import Message
from feedmill.model.pool import PoolKey, PoolKind
from feedmill.store.database import Database
from feedmill.store.dialect import as_list, one_of
from feedmill.store.schema import metadata
from feedmill.store.views import VIEWS

# One name, without a schema: every database takes it, quoted or not.
TABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}", re.ASCII)
OWN_TABLES = frozenset({*metadata.tables, "search_texts", "search_index", "search_unindexed"})
INTERNAL_PREFIXES = ("sqlite_", "pg_", "_cf_", "search_index_")
AVAILABLE = 1

NUMBER_COLUMNS = ("id", "group_id", "status", "batch_id")
TEXT_COLUMNS = {PoolKind.TITLES: ("title", "text"), PoolKind.CONTENTS: ("content", "text")}
# SQLite has types of values, not of columns: there the values are checked.
NUMBER_TYPES = {
    "postgresql": {"smallint", "integer", "bigint"},
    "mysql": {"tinyint", "smallint", "mediumint", "int", "bigint"},
}
TEXT_TYPES = {
    "postgresql": {"text", "character varying", "character"},
    "mysql": {"char", "varchar", "tinytext", "text", "mediumtext", "longtext"},
}
# Those that we may read; MySQL shows no others. In PostgreSQL of the relation that the bare name means, in any schema.
READ_COLUMNS = {
    "sqlite": text("SELECT name, type FROM pragma_table_info(:table_name)"),
    "postgresql": text(
        "SELECT attname AS name, format_type(atttypid, NULL) AS type FROM pg_attribute"
        " WHERE attrelid = to_regclass(quote_ident(:table_name)) AND attnum > 0 AND NOT attisdropped"
        " AND has_column_privilege(attrelid, attnum, 'SELECT')"
    ),
    "mysql": text(
        "SELECT column_name AS name, data_type AS type FROM information_schema.columns"
        " WHERE table_schema = database() AND table_name = :table_name"
    ),
}


@dataclass(frozen=True, slots=True)
class SourceTable:
    """A table or view that texts can be taken from; `numbers` are those of `NUMBER_COLUMNS` that it has."""

    name: str
    text_column: str
    numbers: frozenset[str]


class SourceRow(NamedTuple):
    """A row as the database has it: nothing about its values is certain."""

    id: object
    text: object
    batch_id: object


class _Statements(NamedTuple):
    page_end: Select[Any]
    offered: Select[Any]
    rows: Select[Any]


async def find_source_table(db: Database, name: str, kind: PoolKind) -> SourceTable | Message:
    """The table or view of this name, or why no texts can be taken from it."""
    if problem := _name_problem(name):
        return problem
    rows = await db.query(READ_COLUMNS[db.dialect_name], {"table_name": name})
    types = {str(row["name"]).lower(): str(row["type"]).lower() for row in rows}
    if not types:
        return Message("error.source_table_missing", table=name)
    texts = [each for each in TEXT_COLUMNS[kind] if each in types]
    if "id" not in types or not texts:
        missing = "id" if "id" not in types else " / ".join(TEXT_COLUMNS[kind])
        return Message("error.source_table_column", table=name, column=missing)
    return _type_problem(db.dialect_name, name, texts[0], types) or SourceTable(
        name, texts[0], frozenset(each for each in NUMBER_COLUMNS if each in types)
    )


async def last_id_of_page(db: Database, source: SourceTable, after: int, most: int) -> int | None:
    """The last of the next `most` ids after `after`, offered or not; None at the end of the table."""
    [row] = await db.query(_statements(source).page_end, {"after": after, "most": most})
    last = row["last"]
    if last is not None and not isinstance(last, int):
        raise StatementRefused(Message("error.source_table_number", table=source.name, column="id"))
    return last


async def offered_ids(db: Database, source: SourceTable, pool: PoolKey, after: int, last: int) -> list[int]:
    """The ids of the rows for this pool, above `after` and up to `last`, in their order."""
    values = {"group": pool.group_id, "after": after, "last": last}
    return list(dict.fromkeys(row["id"] for row in await db.query(_statements(source).offered, values)))


async def read_source_rows(
    db: Database, source: SourceTable, pool: PoolKey, ids: Sequence[int], most_characters: int
) -> list[SourceRow]:
    """Those of these rows that are still offered, by id. Of a text that is too long, a little more than allowed."""
    values = {"group": pool.group_id, "ids": as_list(list(ids)), "most_characters": most_characters + 1}
    rows = await db.query(_statements(source).rows, values)
    return [SourceRow(row["id"], row["text"], row["batch_id"]) for row in rows]


def _name_problem(name: str) -> Message | None:
    if not TABLE_NAME.fullmatch(name):
        return Message("error.source_table_name")
    lowered = name.lower()
    if lowered in VIEWS:
        return Message("error.source_table_view", table=name)
    if lowered in OWN_TABLES or lowered.startswith(INTERNAL_PREFIXES):
        return Message("error.source_table_own", table=name)
    return None


def _type_problem(dialect: str, name: str, text_column: str, types: dict[str, str]) -> Message | None:
    """The first column of a type that can't be read, on databases with types of columns."""
    for each in NUMBER_COLUMNS:
        if each in types and types[each] not in NUMBER_TYPES.get(dialect, {types[each]}):
            return Message("error.source_table_number", table=name, column=each)
    if types[text_column] not in TEXT_TYPES.get(dialect, {types[text_column]}):
        return Message("error.source_table_text", table=name, column=text_column)
    return None


@lru_cache(maxsize=256)
def _statements(source: SourceTable) -> _Statements:
    numbers = [column(name, BigInteger) for name in NUMBER_COLUMNS if name in source.numbers]
    found = table(quoted_name(source.name, quote=True), *numbers, column(source.text_column, Text))
    id = found.c.id
    is_offered = []
    if "group_id" in source.numbers:
        is_offered.append(found.c.group_id == bindparam("group"))
    if "status" in source.numbers:
        is_offered.append(found.c.status == AVAILABLE)
    page = select(id).where(id > bindparam("after")).order_by(id).limit(bindparam("most")).subquery("page")
    in_page = (id > bindparam("after"), id <= bindparam("last"))
    content = func.substr(found.c[source.text_column], 1, bindparam("most_characters")).label("text")
    batch = found.c.batch_id if "batch_id" in source.numbers else null().label("batch_id")
    return _Statements(
        page_end=select(func.max(page.c.id).label("last")),
        offered=select(id).where(*in_page, *is_offered).order_by(id),
        rows=select(id, content, batch).where(one_of(id, "ids"), *is_offered).order_by(id),
    )
