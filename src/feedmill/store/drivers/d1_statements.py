"""Turns steps into D1 statements within D1's documented limits: splits what can be split, refuses the rest."""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from feedmill.errors import StatementRefused
from feedmill.i18n.messages import Message
from feedmill.store.database import Params
from feedmill.store.dialect import Compiled
from feedmill.store.drivers.sqlite_json_insert import SQL_TOKEN, bulk_insert_sql, json_lists

# D1's documented limits. The statements of a batch are "queries per Worker invocation": 50 on the free plan.
MAX_PARAMETERS = 100
MAX_SQL_BYTES = 100_000
MAX_ROW_BYTES = 2_000_000
MAX_STATEMENTS = 1_000
# Numbers are sent as JSON and read by JavaScript, which rounds larger ones.
LARGEST_INTEGER = 2**53 - 1
# D1's count of a DELETE includes cascaded rows; RETURNING yields only its own.
COUNTED = " RETURNING 1"


class D1Statement(NamedTuple):
    """One statement in the form that the proxy worker accepts."""

    sql: str
    params: list[Any]


def one_statement(compiled: Compiled, params: Params) -> D1Statement:
    """The statement for one set of parameters."""
    return _bound(compiled.sql, [_plain(value) for value in compiled.values(params)])


def counted_statement(compiled: Compiled, params: Params) -> D1Statement:
    """The same, which also reports how many rows it changes itself."""
    sql, values = one_statement(compiled, params)
    is_delete = sql.startswith("DELETE ") and " RETURNING " not in sql
    return D1Statement(sql + COUNTED if is_delete else sql, values)


def many_statements(compiled: Compiled, many: Sequence[Params]) -> list[D1Statement]:
    """As few statements as possible that have the effect of `compiled` for each of many sets of parameters."""
    rows = [[_plain(value) for value in compiled.values(params)] for params in many]
    listed = bulk_insert_sql(compiled.sql)
    if listed is None:
        return [_bound(compiled.sql, row) for row in rows]
    _checked_sql(listed)
    return [
        _bound(compiled.sql, list(chunk.rows[0])) if chunk.is_too_long else D1Statement(listed, [chunk.listed.decode()])
        for chunk in json_lists(rows)
    ]


def raw_statement(sql: str) -> D1Statement:
    """A statement without parameters, as migrations write them."""
    return D1Statement(_checked_sql(sql), [])


def _bound(sql: str, values: list[Any]) -> D1Statement:
    if len(values) > MAX_PARAMETERS:
        raise StatementRefused(Message("database.d1_parameters", most=MAX_PARAMETERS, given=len(values)))
    if _size(values) > MAX_ROW_BYTES and (sql.startswith("INSERT") or _longest(values) > MAX_ROW_BYTES):
        raise StatementRefused(Message("database.d1_row", most=MAX_ROW_BYTES))
    return D1Statement(_checked_sql(_with_casts(sql, values)), values)


def _with_casts(sql: str, values: list[Any]) -> str:
    """`sql` with casts of integers: D1 binds every number as REAL, so 7 / 2 would be 3.5."""
    pieces = _between_binds(sql)
    marks = ["CAST(? AS INTEGER)" if type(value) is int else "?" for value in values]
    return "".join(part for pair in zip(pieces, [*marks, ""], strict=True) for part in pair)


@lru_cache(maxsize=1024)
def _between_binds(sql: str) -> list[str]:
    pieces = [""]
    for word in SQL_TOKEN.findall(sql):
        if word == "?":
            pieces.append("")
        else:
            pieces[-1] += word
    return pieces


def _plain(value: Any) -> Any:
    """The value as D1 can store it; raises `StatementRefused`."""
    if value is None:
        return None
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise StatementRefused(Message("database.d1_value", value=f"{value!r:.40}"))


def _text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise StatementRefused(Message("database.d1_text", detail=str(error))) from error
    return str.__str__(value)


def _integer(value: int) -> int:
    if abs(value) > LARGEST_INTEGER:
        raise StatementRefused(Message("database.d1_integer", value=str(value)))
    return int(value)


def _size(values: list[Any]) -> int:
    return sum(_bytes(value) for value in values)


def _longest(values: list[Any]) -> int:
    return max(map(_bytes, values), default=0)


def _bytes(value: Any) -> int:
    return len(value.encode()) if isinstance(value, str) else 8


def _checked_sql(sql: str) -> str:
    if len(sql.encode()) > MAX_SQL_BYTES:
        raise StatementRefused(Message("database.d1_sql", most=MAX_SQL_BYTES))
    return sql
