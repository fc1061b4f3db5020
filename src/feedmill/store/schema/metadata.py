"""The SQLAlchemy metadata and the function that defines a table."""

from typing import Any

from sqlalchemy import Column, MetaData, Table
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import CreateTable
from sqlalchemy.sql.compiler import DDLCompiler

MYSQL_OPTIONS = "ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARSET=utf8mb4 COLLATE utf8mb4_bin"

metadata = MetaData()


def table(name: str, *parts: Any, **options: Any) -> Table:
    # AUTOINCREMENT: ids are never reused, so that an old link cannot show another user's row.
    numbered = any(isinstance(part, Column) and part.primary_key and part.autoincrement is True for part in parts)
    return Table(name, metadata, *parts, sqlite_autoincrement=numbered, **options)


# Not as options of each table: SQLAlchemy would import the MySQL dialect for any database to check them.
@compiles(CreateTable, "mysql")
def _create_with_options(create: CreateTable, compiler: DDLCompiler, **options: Any) -> str:
    sql = compiler.visit_create_table(create, **options)  # type: ignore[no-untyped-call]
    return f"{sql.rstrip()} {MYSQL_OPTIONS}\n\n"


@compiles(CreateTable, "postgresql")
def _create_partitioned(create: CreateTable, compiler: DDLCompiler, **options: Any) -> str:
    """Divides a table by the column that its `info` names; PostgreSQL wants that column in the key."""
    sql: str = compiler.visit_create_table(create, **options)  # type: ignore[no-untyped-call]
    if (by := create.element.info.get("partitioned_by")) is None:
        return sql
    return f"{sql.rstrip().replace('PRIMARY KEY (id)', f'PRIMARY KEY (id, {by})')} PARTITION BY RANGE ({by})\n\n"
