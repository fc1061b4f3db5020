"""What is specific to SQLite: one file, one writer, many readers, a disk that can fill up."""

import asyncio
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import func, literal, select, text

from feedmill.errors import ConstraintViolated, DatabaseError, DatabaseUnavailable
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.entries.add_entries import steps_to_add_entries
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.migrations import migrate
from feedmill.store.schema import instance_state
from feedmill.store.search.index_in_lots import index_waiting_texts
from tests.cli.tmpfs import fill_disk, make_read_only, make_writable, small_disk
from tests.library.small_library import HOUR, NOW, new_entry
from tests.sqlite_template import copy_template
from tests.waiting import LONGEST_WAIT

KEEP = insert(instance_state, "name", "value")
HOW_MANY = select(func.count().label("n")).select_from(instance_state)


@pytest.fixture
async def db(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    await copy_template(tmp_path / "feedmill.db")
    database = SqliteDatabase(tmp_path / "feedmill.db", busy_seconds=LONGEST_WAIT)
    yield database
    await database.close()


@pytest.mark.parametrize(
    ("pragma", "value"),
    [("journal_mode", "wal"), ("synchronous", 1), ("foreign_keys", 1), ("busy_timeout", LONGEST_WAIT * 1000)],
)
async def test_every_connection_has_the_documented_pragmas(db: SqliteDatabase, pragma: str, value: object) -> None:
    [row] = await db.query(text(f"PRAGMA {pragma}"))

    assert list(row.values()) == [value]


async def test_two_hundred_concurrent_batches_from_three_connections_all_commit(tmp_path: Path) -> None:
    sides = [SqliteDatabase(tmp_path / "feedmill.db") for _ in range(3)]
    await migrate(sides[0])

    await asyncio.gather(*(_keep(sides[number % 3], f"{number}") for number in range(200)))

    assert await _how_many(sides[0]) == 200
    for side in sides:
        await side.close()


async def test_of_batches_that_share_a_commit_only_the_failing_ones_are_rolled_back(db: SqliteDatabase) -> None:
    await _keep(db, "taken")
    # Every third fails at its second step.
    batches = [(f"{number}", "taken" if number % 3 == 0 else f"{number}b") for number in range(60)]

    results = await asyncio.gather(*(_keep(db, *names) for names in batches), return_exceptions=True)

    assert [isinstance(result, ConstraintViolated) for result in results] == [True, False, False] * 20
    assert await _how_many(db) == 1 + 2 * 40


async def test_a_program_that_keeps_the_file_locked_is_reported(db: SqliteDatabase, tmp_path: Path) -> None:
    hasty = SqliteDatabase(tmp_path / "feedmill.db", busy_seconds=0.3)
    with closing(sqlite3.connect(tmp_path / "feedmill.db", isolation_level=None)) as rude:
        rude.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseUnavailable, match="locked by another program"):
            await _keep(hasty, "a")
        assert await _how_many(db) == 0
        rude.execute("ROLLBACK")
    await hasty.close()

    await _keep(db, "a")
    assert await _how_many(db) == 1


async def test_readers_do_not_wait_for_a_writer(db: SqliteDatabase, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "feedmill.db", isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("INSERT INTO instance_state (name, value) VALUES ('half', 'way')")

        assert await _how_many(db) == 0


async def test_a_backup_is_complete_while_others_write(db: SqliteDatabase, tmp_path: Path) -> None:
    pairs = asyncio.gather(*(_keep(db, f"{number}a", f"{number}b") for number in range(50)))

    await db.backup(tmp_path / "copy.db")
    await pairs

    with closing(sqlite3.connect(tmp_path / "copy.db")) as copy:
        [kept] = copy.execute("SELECT count(*) FROM instance_state").fetchone()
        assert kept % 2 == 0
        assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)


async def test_a_path_can_contain_any_character(tmp_path: Path) -> None:
    folder = tmp_path / "mein Ordner #1?%20 文件夹"
    folder.mkdir()
    database = SqliteDatabase(folder / "feed mill.db")

    await migrate(database)
    await database.close()

    assert (folder / "feed mill.db").exists()


async def test_a_batch_on_a_full_disk_is_rolled_back_and_works_once_there_is_space(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "8m") as disk:
        database = SqliteDatabase(disk / "feedmill.db")
        await migrate(database)
        await _keep(database, "before")
        ballast = fill_disk(disk)

        with pytest.raises(DatabaseUnavailable, match="disk is full"):
            await database.batch([Step(KEEP, [_fact(f"{number}", "x" * 1000) for number in range(2000)])])
        assert await _how_many(database) == 1

        ballast.unlink()
        await _keep(database, "after")
        assert await _how_many(database) == 2
        await database.close()


async def test_a_disk_that_becomes_read_only_is_reported_and_nothing_is_lost(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "8m") as disk:
        database = SqliteDatabase(disk / "feedmill.db")
        await migrate(database)
        await _keep(database, "before")
        await database.close()
        make_read_only(disk)

        protected = SqliteDatabase(disk / "feedmill.db")
        with pytest.raises(DatabaseUnavailable, match=r"feedmill\.db can't be"):
            await _keep(protected, "meanwhile")
        await protected.close()

        make_writable(disk)
        again = SqliteDatabase(disk / "feedmill.db")
        assert await _how_many(again) == 1
        await again.close()


def _fact(name: str, value: str) -> dict[str, str]:
    return {"name": name, "value": value}


async def _keep(db: Database, *names: str) -> None:
    await db.batch([Step(KEEP, _fact(name, "")) for name in names])


async def _how_many(db: Database) -> int:
    [row] = await db.query(HOW_MANY)
    number: int = row["n"]
    return number


async def test_eight_connections_can_open_a_new_file_at_once(tmp_path: Path) -> None:
    for round_number in range(10):
        opened = [SqliteDatabase(tmp_path / f"{round_number}.db") for _ in range(8)]

        answers = await asyncio.gather(*(database.query(select(literal(1))) for database in opened))

        assert len(answers) == 8
        await asyncio.gather(*(database.close() for database in opened))


async def test_a_closed_database_refuses_writes_at_once(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "feedmill.db")
    await database.exec("CREATE TABLE noted (id INTEGER)")
    await database.close()

    with pytest.raises(DatabaseError, match="closed"):
        await asyncio.wait_for(database.exec("INSERT INTO noted VALUES (1)"), LONGEST_WAIT)


async def test_the_words_of_a_feed_are_indexed_once_whatever_the_order_of_its_entries(db: SqliteDatabase) -> None:
    feed = await add_feed(db, "https://example.org/feed", NOW)
    new = [new_entry(f"entry {number}", NOW + HOUR * (number % 7)) for number in range(30)]

    await db.batch(steps_to_add_entries(feed.id, "token", new, to_iso(NOW), in_feed=True))
    await index_waiting_texts(db)

    found = await db.query(text("SELECT COUNT(*) AS n FROM search_index WHERE search_index MATCH 'entry'"))
    segments = await db.query(text("SELECT COUNT(DISTINCT segid) AS n FROM search_index_idx"))
    assert (found, segments) == ([{"n": 30}], [{"n": 1}])


async def test_a_feed_with_many_long_texts_is_indexed_completely(db: SqliteDatabase) -> None:
    feed = await add_feed(db, "https://example.org/feed", NOW)
    long = " ".join(f"word{number}" for number in range(6000))
    new = [new_entry(f"entry {number}", NOW + HOUR * number, content_html=long) for number in range(50)]

    await db.batch(steps_to_add_entries(feed.id, "token", new, to_iso(NOW), in_feed=True))
    await index_waiting_texts(db)

    found = await db.query(text("SELECT COUNT(*) AS n FROM search_index WHERE search_index MATCH 'word1 word4999'"))
    assert found == [{"n": 50}]


CHANGE_SCHEMA = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
connection.execute("PRAGMA synchronous = OFF")
for number in range(2000):
    connection.execute("CREATE TABLE short_lived (x)")
    connection.execute("DROP TABLE short_lived")
"""


@pytest.mark.external
async def test_a_read_succeeds_while_another_process_changes_the_schema(db: SqliteDatabase, tmp_path: Path) -> None:
    command = (sys.executable, "-c", CHANGE_SCHEMA, str(tmp_path / "feedmill.db"))
    process = await asyncio.create_subprocess_exec(*command)
    reads = 0
    while process.returncode is None:
        reads += 1
        # Every time another statement, which SQLite has not compiled yet.
        assert await db.query(text(f"SELECT name, {reads} FROM instance_state WHERE name = 'none'")) == []

    assert process.returncode == 0
