"""The database's own clock and tables."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from feedmill.store.admin.database_check import database_time, missing_tables
from feedmill.store.database import Database
from feedmill.store.drivers.sqlite import SqliteDatabase
from tests.sqlite_template import copy_template


async def test_the_clock_of_each_database_can_be_read(any_db: Database) -> None:
    assert abs(await database_time(any_db) - datetime.now(UTC)) < timedelta(seconds=5)


async def test_no_table_is_missing_after_the_migrations(any_db: Database) -> None:
    assert await missing_tables(any_db) == []


async def test_a_missing_table_is_named(tmp_path: Path) -> None:
    await copy_template(tmp_path / "feedmill.db")
    db = SqliteDatabase(tmp_path / "feedmill.db")
    await db.exec("DROP TABLE tombstones")

    assert await missing_tables(db) == ["tombstones"]
    await db.close()
