"""Many rows in one parameter, as a table that a statement can select from and join.

The number of statements then does not depend on the number of rows: D1 limits it, and each takes a round trip.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Column, Text, bindparam
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.sql.selectable import TableValuedAlias

from feedmill.store.drivers.sqlite_json_insert import json_lists

# ruff: noqa: S608 (what is put together here are names of columns and types)


class RowsParameter(FunctionElement[Any]):
    """The rows of a JSON array of arrays in the parameter `parameter`."""

    inherit_cache = False
    name = "json_rows"

    def __init__(self, parameter: str, columns: Sequence[Column[Any]]) -> None:
        super().__init__()
        self.parameter = parameter
        self.columns_of_rows = tuple(columns)


def json_rows(parameter: str, *columns: Column[Any]) -> TableValuedAlias:
    """The rows in a parameter that `as_rows` made, with these columns."""
    return RowsParameter(parameter, columns).table_valued(*columns).alias(parameter)


def as_rows(rows: Sequence[Sequence[int | str]]) -> list[str]:
    """The form in which rows are passed to `json_rows`: JSON texts, most often one, of a size that D1 accepts."""
    return [some.listed.decode() for some in json_lists(rows)]


def _bound(element: RowsParameter, compiler: SQLCompiler, kw: Any) -> str:
    return compiler.process(bindparam(element.parameter, type_=Text()), **kw)


def _type(column: Column[Any], compiler: SQLCompiler) -> str:
    return str(compiler.dialect.type_compiler_instance.process(column.type))


@compiles(RowsParameter, "sqlite")
def _from_json_each(element: RowsParameter, compiler: SQLCompiler, **kw: Any) -> str:
    values = [f"json_extract(value, '$[{n}]') AS {column.name}" for n, column in enumerate(element.columns_of_rows)]
    return f"(SELECT {', '.join(values)} FROM json_each({_bound(element, compiler, kw)}))"


@compiles(RowsParameter, "postgresql")
def _from_json_elements(element: RowsParameter, compiler: SQLCompiler, **kw: Any) -> str:
    values = [
        f"(value ->> {n})::{_type(column, compiler)} AS {column.name}"
        for n, column in enumerate(element.columns_of_rows)
    ]
    return f"(SELECT {', '.join(values)} FROM json_array_elements({_bound(element, compiler, kw)}::json))"


@compiles(RowsParameter, "mysql")
def _from_json_table(element: RowsParameter, compiler: SQLCompiler, **kw: Any) -> str:
    columns = [
        f"{column.name} {_type(column, compiler)} PATH '$[{n}]'" for n, column in enumerate(element.columns_of_rows)
    ]
    read = f"JSON_TABLE({_bound(element, compiler, kw)}, '$[*]' COLUMNS ({', '.join(columns)}))"
    return f"(SELECT * FROM {read} AS read_rows)"
