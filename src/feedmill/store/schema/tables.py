"""How every table is made."""

from typing import Any

from sqlalchemy import Column, MetaData, Table

metadata = MetaData()


def table(name: str, *parts: Any, **options: Any) -> Table:
    # AUTOINCREMENT: an id is never given twice, so that an old link can't show somebody else's row.
    numbered = any(isinstance(part, Column) and part.primary_key and part.autoincrement is True for part in parts)
    return Table(
        name, metadata, *parts, sqlite_autoincrement=numbered, mysql_charset="utf8mb4",
        mysql_collate="utf8mb4_bin", mysql_engine="InnoDB", mysql_row_format="DYNAMIC", **options,
    )  # fmt: skip
