"""Texts are indexed in lots after they were stored: none is lost or indexed twice, and none waits for long."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from feedmill.app import App, build_app
from feedmill.errors import DatabaseError, DatabaseUnavailable, StatementRefused
from feedmill.model.refresh import Revision
from feedmill.model.timestamps import to_iso
from feedmill.run.embedded import INDEX_EVERY, open_embedded
from feedmill.settings import load_settings
from feedmill.store.database import Database, Step
from feedmill.store.entries.add_entries import steps_to_add_revisions
from feedmill.store.filters.stored_matches import find_match_keys
from feedmill.store.schema import entries
from feedmill.store.search import index_in_lots as in_lots
from feedmill.store.search import index_missing_entries as missing_entries
from feedmill.store.search.find_entries import count_matches, find_newest_matches
from feedmill.store.search.index_completeness import is_index_incomplete, steps_to_mark_index_incomplete
from feedmill.store.search.index_in_lots import LOT_SIZE, index_waiting_texts
from feedmill.store.search.index_missing_entries import index_missing_entries
from tests.databases import emptied
from tests.library.small_library import DAY, NOW, SmallLibrary
from tests.store.search.test_find_entries import a_shelf, words
from tests.waiting import until

MANY = LOT_SIZE + 20
FTS5 = ("sqlite", "d1")


@pytest.fixture(params=FTS5)
async def lots_db(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    """A migrated, empty database that indexes in lots."""
    async with emptied(request, request.param, tmp_path) as database:
        yield database


async def waiting(db: Database) -> int:
    [row] = await db.query(text("SELECT COUNT(*) AS n FROM search_unindexed"))
    return int(row["n"])


async def indexed(db: Database, word: str) -> int:
    """How many texts the index finds by itself."""
    [row] = await db.query(
        text("SELECT COUNT(*) AS n FROM search_index WHERE search_index MATCH :word").bindparams(word=word)
    )
    return int(row["n"])


async def check_index(db: Database) -> None:
    """FTS5 compares its index with the texts: one that is missing or indexed twice is an error."""
    await db.batch([Step(text("INSERT INTO search_index(search_index) VALUES ('integrity-check')"))])


async def test_texts_are_indexed_once_however_many_processes_do_it(lots_db: Database) -> None:
    library, _, feed = await a_shelf(lots_db)
    await library.arrive(feed, *(f"kilns {number}" for number in range(MANY)))
    assert (await waiting(lots_db), await indexed(lots_db, "kilns")) == (MANY, 0)

    both = await asyncio.gather(index_waiting_texts(lots_db), index_waiting_texts(lots_db))

    assert sum(both) == MANY
    assert await index_waiting_texts(lots_db) == 0
    assert (await waiting(lots_db), await indexed(lots_db, "kilns")) == (0, MANY)
    await check_index(lots_db)


@dataclass
class RefusingDatabase:
    """A database that does not index the texts of these entries, or of none."""

    inner: Database
    bad: frozenset[int] = frozenset()
    error: DatabaseError = field(default_factory=lambda: StatementRefused("string or blob too big"))
    lots: int = 0

    def __post_init__(self) -> None:
        self.dialect_name = self.inner.dialect_name
        self.query = self.inner.query

    async def batch(self, steps: Sequence[Step]) -> list[int]:
        statement, lot = steps[0]
        if statement is in_lots._INDEX and isinstance(lot, dict):
            self.lots += 1
            if any(lot["first"] <= id <= lot["last"] for id in self.bad):
                raise self.error
        return await self.inner.batch(steps)


@pytest.mark.parametrize(("most_bytes", "lots"), [(1, 6), (1_500, 3), (2_000_000, 1)])
async def test_a_lot_of_long_texts_has_fewer_of_them(
    lots_db: Database, monkeypatch: pytest.MonkeyPatch, most_bytes: int, lots: int
) -> None:
    monkeypatch.setattr(in_lots, "LOT_BYTES", most_bytes)
    library, _, feed = await a_shelf(lots_db)
    await library.arrive(feed, *(f"kilns {number}" for number in range(6)), content_html="clay " * 200)
    counted: Any = RefusingDatabase(lots_db)

    assert await index_waiting_texts(counted) == 6

    assert (counted.lots, await indexed(lots_db, "clay")) == (lots, 6)
    await check_index(lots_db)


async def test_a_text_that_the_database_refuses_holds_up_no_other(lots_db: Database, logged: list[Any]) -> None:
    library, alice, feed = await a_shelf(lots_db)
    ids = await library.arrive(feed, *(f"kilns {number}" for number in range(20)))
    refusing: Any = RefusingDatabase(lots_db, frozenset({ids[7]}))

    found = await find_match_keys(refusing, words("kilns"), alice.id, 100)

    assert sorted(key.entry_id for key in found) == [id for id in ids if id != ids[7]]
    assert (await waiting(lots_db), [line["event"] for line in logged]) == (0, ["text_not_indexable"])
    await check_index(lots_db)
    assert await index_missing_entries(lots_db) == 1
    assert await indexed(lots_db, "kilns") == 20


@pytest.mark.parametrize("error", [StatementRefused("malformed"), DatabaseUnavailable("the disk is full")])
async def test_no_text_is_given_up_if_the_database_indexes_none(lots_db: Database, error: DatabaseError) -> None:
    library, _, feed = await a_shelf(lots_db)
    ids = await library.arrive(feed, *(f"kilns {number}" for number in range(20)))
    refusing: Any = RefusingDatabase(lots_db, frozenset(ids), error)

    with pytest.raises(type(error)):
        await index_waiting_texts(refusing)

    assert await waiting(lots_db) == 20
    assert await index_waiting_texts(lots_db) == 20


async def test_many_texts_that_are_refused_hold_up_no_other(lots_db: Database, logged: list[Any]) -> None:
    library, _, feed = await a_shelf(lots_db)
    ids = await library.arrive(feed, *(f"kilns {number}" for number in range(20)))
    refusing: Any = RefusingDatabase(lots_db, frozenset(ids[: 2 * in_lots.MOST_REFUSED]))

    assert await index_waiting_texts(refusing) == 10

    assert (await waiting(lots_db), await indexed(lots_db, "kilns")) == (0, 10)
    assert [line["event"] for line in logged] == 10 * ["text_not_indexable"]
    await check_index(lots_db)


@pytest.mark.parametrize("error", [StatementRefused("malformed"), DatabaseUnavailable("the database is locked")])
async def test_a_search_tries_to_index_a_lot_once(lots_db: Database, error: DatabaseError) -> None:
    library, alice, feed = await a_shelf(lots_db)
    ids = await library.arrive(feed, *(f"kilns {number}" for number in range(20)))
    refusing: Any = RefusingDatabase(lots_db, frozenset(ids), error)

    assert await find_newest_matches(refusing, words("kilns"), alice.id, 10) == {}

    assert refusing.lots == 1


async def test_a_locked_database_is_not_asked_again_with_fewer_texts(lots_db: Database) -> None:
    library, _, feed = await a_shelf(lots_db)
    ids = await library.arrive(feed, *(f"kilns {number}" for number in range(20)))
    locked: Any = RefusingDatabase(lots_db, frozenset(ids), DatabaseUnavailable("the database is locked"))

    with pytest.raises(DatabaseUnavailable):
        await index_waiting_texts(locked)

    assert locked.lots == 1


@dataclass
class RefusingText:
    """A database that does not take the texts of these entries for the index."""

    inner: Database
    bad: frozenset[int]

    def __post_init__(self) -> None:
        self.dialect_name = self.inner.dialect_name
        self.query = self.inner.query

    async def batch(self, steps: Sequence[Step]) -> list[int]:
        for statement, rows in steps:
            if statement is missing_entries.ADD_MISSING and self.bad & {row["entry"] for row in rows}:  # type: ignore[union-attr, index]
                raise StatementRefused("string is too long for tsvector")
        return await self.inner.batch(steps)


async def test_a_rebuilt_index_is_complete_but_for_texts_that_are_refused(any_db: Database, logged: list[Any]) -> None:
    library, alice, feed = await a_shelf(any_db)
    ids = await library.arrive(feed, *(f"kilns {number}" for number in range(20)))
    await any_db.batch([Step(text("DELETE FROM search_texts")), *steps_to_mark_index_incomplete()])

    assert await index_missing_entries(RefusingText(any_db, frozenset(ids[5:12]))) == 13  # type: ignore[arg-type]

    assert [line["event"] for line in logged] == 7 * ["text_not_indexable"]
    assert not await is_index_incomplete(any_db)
    assert await count_matches(any_db, words("kilns"), alice.id, 100) == 13
    assert await index_missing_entries(any_db) == 7


async def test_an_index_is_not_complete_if_the_database_takes_no_text(
    any_db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(missing_entries, "MOST_REFUSED", 5)
    library, _, feed = await a_shelf(any_db)
    ids = await library.arrive(feed, *(f"kilns {number}" for number in range(20)))
    await any_db.batch([Step(text("DELETE FROM search_texts")), *steps_to_mark_index_incomplete()])

    with pytest.raises(StatementRefused):
        await index_missing_entries(RefusingText(any_db, frozenset(ids)))  # type: ignore[arg-type]

    assert await is_index_incomplete(any_db)


async def test_changed_and_deleted_texts_that_wait_are_indexed_as_they_are_then(lots_db: Database) -> None:
    library, _, feed = await a_shelf(lots_db)
    [changed, deleted, kept] = await library.arrive(feed, "changed", "deleted", "kept", content_html="before")

    second = Revision(changed, 1, "new", None, "second", None, None, "after")
    await lots_db.batch(steps_to_add_revisions([second], to_iso(NOW)))
    await lots_db.batch([Step(entries.delete().where(entries.c.id == deleted))])
    await index_waiting_texts(lots_db)

    assert (await indexed(lots_db, "before"), await indexed(lots_db, "after")) == (1, 1)
    third = Revision(kept, 1, "new", None, "kept", None, None, "after")
    await lots_db.batch(steps_to_add_revisions([third], to_iso(NOW)))
    await lots_db.batch([Step(entries.delete().where(entries.c.id == changed))])
    assert (await indexed(lots_db, "before"), await indexed(lots_db, "after"), await waiting(lots_db)) == (0, 1, 0)
    await check_index(lots_db)


async def test_a_search_finds_what_was_stored_just_before(any_db: Database) -> None:
    library, alice, feed = await a_shelf(any_db)
    await library.arrive(feed, "kilns 1")
    assert len(await find_newest_matches(any_db, words("kilns"), alice.id, 10)) == 1

    await library.arrive(feed, "kilns 2")
    assert await count_matches(any_db, words("kilns"), alice.id, 10) == 2


async def test_a_search_leaves_many_texts_to_the_background_and_a_filter_does_not(lots_db: Database) -> None:
    library, alice, feed = await a_shelf(lots_db)
    await library.arrive(feed, *(f"kilns {number}" for number in range(MANY)))

    assert await find_newest_matches(lots_db, words("kilns"), alice.id, 10) == {}
    assert await waiting(lots_db) == MANY

    assert len(await find_match_keys(lots_db, words("kilns"), alice.id, MANY)) == MANY


async def test_whatever_is_indexed_last_has_the_greatest_id(lots_db: Database) -> None:
    """Who looks for hits after the last one that was found, as notifications do, misses none."""
    library, _, feed = await a_shelf(lots_db)
    # The later they arrive, the older they are.
    for number in range(4):
        titles = [f"kilns {number} {each}" for each in range(LOT_SIZE // 2)]
        await library.arrive(feed, *titles, at=NOW - number * 100 * DAY)

    indexing = asyncio.create_task(index_waiting_texts(lots_db))
    while not indexing.done():
        [row] = await lots_db.query(
            text(
                "SELECT (SELECT MAX(rowid & 2147483647) FROM search_index WHERE search_index MATCH 'kilns') AS newest,"
                " (SELECT MIN(entry_id) FROM search_unindexed) AS waiting"
            )
        )
        assert (row["newest"] or 0) < (row["waiting"] or 2**31)

    assert await indexing == 2 * LOT_SIZE


@asynccontextmanager
async def an_app(folder: Path) -> AsyncIterator[App]:
    async with build_app(load_settings(data=str(folder))) as app:
        yield app


async def a_feed_of(app: App, *titles: str) -> None:
    library = SmallLibrary(app.db)
    await library.arrive(await library.feed(titles[0].replace(" ", "-")), *titles)


async def test_what_a_killed_process_has_stored_is_indexed_by_the_next_one(tmp_path: Path) -> None:
    async with an_app(tmp_path) as app:
        await a_feed_of(app, "kilns 1")
    async with an_app(tmp_path) as app, open_embedded(app):
        await until(lambda: _is_indexed(app.db, 1))


async def test_a_server_indexes_what_arrives_within_a_minute(tmp_path: Path) -> None:
    assert timedelta(minutes=1) > INDEX_EVERY
    async with an_app(tmp_path) as app, open_embedded(app, index_every=timedelta(milliseconds=10)):
        await a_feed_of(app, "kilns 1")
        await until(lambda: _is_indexed(app.db, 1))
        await a_feed_of(app, "kilns 2")
        await until(lambda: _is_indexed(app.db, 2))


async def test_a_command_indexes_what_it_has_stored_before_it_ends(tmp_path: Path) -> None:
    async with an_app(tmp_path) as app:
        await a_feed_of(app, "kilns 0")
        async with open_embedded(app, index_every=timedelta(days=1)):
            # The next run is tomorrow.
            await until(lambda: _is_indexed(app.db, 1))
            await a_feed_of(app, "kilns 1", "kilns 2")
            assert await waiting(app.db) == 2
        assert (await waiting(app.db), await indexed(app.db, "kilns")) == (0, 3)


async def _is_indexed(db: Database, count: int) -> bool:
    return await indexed(db, "kilns") == count
