"""Generates docs/reference/schema.md: every table and column, from the schema and `meanings.toml`."""

import tomllib
from pathlib import Path

from sqlalchemy import Column, Table, UniqueConstraint
from sqlalchemy.dialects import postgresql

from feedmill.store.schema import metadata
from reference import MADE, row

MEANINGS = tomllib.loads(Path(__file__).with_name("meanings.toml").read_text())

INTRODUCTION = """\
The same tables in SQLite, PostgreSQL, MariaDB and D1. Types are PostgreSQL's here; in the others they are the
nearest that compares the same way. They are made and changed by the numbered files in `src/feedmill/store/migrations`,
and may change with each version: a program that wants to last uses the [API](routes.md), [pools](../running/pools.md)
or [webhooks](../running/webhooks.md). Reading is harmless.

- A time is text in UTC, `2026-02-18T08:30:00.000Z`, so that text order is time order.
- A flag is 0 or 1. Lists and options are JSON in text.
- An `id` is never given twice, and stays below 2^53.
- A row that belongs to another one goes with it.
"""


def page() -> str:
    parts = [_table(table) for table in sorted(metadata.tables.values(), key=lambda table: table.name)]
    return "\n".join([f"# Schema\n\n{MADE}\n\n{INTRODUCTION}", *parts])


def _table(table: Table) -> str:
    lines = [f"## `{table.name}`\n", f"{MEANINGS[table.name]['_']}\n", row("column", "type", ""), "|---|---|---|"]
    lines += [row(f"`{column.name}`", _type(column), _meaning(column)) for column in table.columns]
    return "\n".join([*lines, "", *_unique(table)])


def _type(column: Column[object]) -> str:
    kind = str(column.type.compile(dialect=postgresql.dialect())).partition(" COLLATE")[0].lower()
    return kind + ("" if column.nullable else ", required")


def _meaning(column: Column[object]) -> str:
    """The meaning of a column: that of its table, else that of its name, else the table to which it refers."""
    said = MEANINGS[column.table.name].get(column.name) or MEANINGS["*"].get(column.name)
    owner = [f"belongs to `{key.column.table.name}`" for key in column.foreign_keys]
    if not said and not owner:
        raise KeyError(f"tools/reference/meanings.toml says nothing of {column}")
    return "; ".join([part for part in (said, *owner) if part])


def _unique(table: Table) -> list[str]:
    """The unique columns of a table."""
    together = [constraint.columns for constraint in table.constraints if isinstance(constraint, UniqueConstraint)]
    names = sorted([[column.name for column in columns] for columns in together])
    primary = [column.name for column in table.primary_key]
    names = [primary, *names] if primary != ["id"] else names
    return [f"Unique: {', '.join('`' + ' + '.join(one) + '`' for one in names)}\n"] if names else []
