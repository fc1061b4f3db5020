"""Rows of a table or view of the same database join a pool, on each of the four databases: each once, none left out."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from secrets import token_hex
from typing import Any

import asyncpg
import pytest
from sqlalchemy import BigInteger, bindparam, text
from structlog.testing import capture_logs

from feedmill.errors import BadInput, DatabaseUnavailable
from feedmill.html.sanitize import sanitize_html
from feedmill.model.pool import Guarantee, PoolCounts, PoolKind, PoolOptions, PoolRule
from feedmill.pools import source_tables
from feedmill.pools.errors import PoolEmpty
from feedmill.pools.item_texts import ItemTexts
from feedmill.pools.pool_tools import PoolTools
from feedmill.pools.program_texts import MAX_TEXT_LENGTH
from feedmill.pools.service import PoolService
from feedmill.store.database import Database, Row, Step
from feedmill.store.pools.source_tables import READ_COLUMNS, SourceTable
from tests.pools.conftest import Clock
from tests.pools.pool_rows import MINUTE, add_entries
from tests.services.server import Service

TITLES, CONTENTS = PoolKind.TITLES, PoolKind.CONTENTS
PROGRAMS_ONLY = PoolRule(no_entries=True)
# A table of the fifth document; LONGTEXT is one of MySQL's words.
COLUMNS = "id BIGINT PRIMARY KEY, title TEXT, content TEXT, group_id BIGINT, batch_id BIGINT, status INTEGER"
NUMBERS = ("id", "group_id", "batch_id", "status")


@dataclass
class SourceRows:
    """A table that another program fills."""

    db: Database
    name: str

    async def add(self, *rows: dict[str, Any]) -> None:
        for row in rows:
            binds = ", ".join(f":{name}" for name in row)
            insert = text(f"INSERT INTO {self.name} ({', '.join(row)}) VALUES ({binds})")
            typed = [bindparam(name, type_=BigInteger) for name in row if name in NUMBERS]
            await self.db.batch([Step(insert.bindparams(*typed), row)])

    async def add_titles(self, *ids: int, **same: Any) -> None:
        await self.add(*({"id": id, "title": f"title {id}"} | same for id in ids))

    async def change(self, sql: str) -> None:
        await self.db.exec(sql.format(table=self.name))


@pytest.fixture
async def any_pool_service(any_db: Database, clock: Clock) -> PoolService:
    return PoolService(PoolTools(any_db, ItemTexts(sanitize_html), clock=clock))


@pytest.fixture
async def table(any_db: Database) -> AsyncIterator[SourceRows]:
    name = f"own_{token_hex(4)}"
    await any_db.exec(f"CREATE TABLE {name} ({COLUMNS})")
    yield SourceRows(any_db, name)
    await any_db.exec(f"DROP VIEW IF EXISTS {name}_view")
    await any_db.exec(f"DROP TABLE IF EXISTS {name}")


def from_table(name: str) -> PoolOptions:
    return PoolOptions(source_table=name)


async def test_rows_join_newest_batch_first_and_in_the_order_of_their_ids(
    any_pool_service: PoolService, table: SourceRows
) -> None:
    group = await any_pool_service.create("mine", PROGRAMS_ONLY, from_table(table.name))
    await table.add_titles(30, 2, 9, group_id=group.id, batch_id=1, status=1)
    await table.add_titles(5, group_id=group.id, batch_id=2, status=1)
    await table.add_titles(6, group_id=group.id, batch_id=3, status=0)
    await table.add_titles(7, group_id=group.id + 1, batch_id=3, status=1)

    await any_pool_service.maintainer.run_once()

    items = await any_pool_service.pop("mine", TITLES, 9)
    assert [item.text for item in items] == ["title 5", "title 2", "title 9", "title 30"]


async def test_each_row_is_taken_once_and_its_first_text_stays(
    any_pool_service: PoolService, table: SourceRows
) -> None:
    group = await any_pool_service.create("mine", PROGRAMS_ONLY, from_table(table.name))
    same = {"group_id": group.id, "batch_id": 1, "status": 1}
    await table.add_titles(1, 2, **same)
    await any_pool_service.maintainer.run_once()
    await any_pool_service.pop("mine", TITLES)

    await table.change("UPDATE {table} SET title = 'changed'")
    await table.add_titles(3, **same)
    for _ in range(2):
        await any_pool_service.maintainer.run_once()

    assert [item.text for item in await any_pool_service.pop("mine", TITLES, 9)] == ["title 2", "title 3"]


async def test_a_row_that_is_offered_late_is_found(any_pool_service: PoolService, table: SourceRows) -> None:
    group = await any_pool_service.create("mine", PROGRAMS_ONLY, from_table(table.name))
    await table.add_titles(*range(10, 20), group_id=group.id, batch_id=1, status=0)
    await table.add_titles(20, group_id=group.id, batch_id=1, status=1)
    await any_pool_service.maintainer.run_once()

    await table.change("UPDATE {table} SET status = 1 WHERE id = 12")
    await table.add_titles(3, group_id=group.id, batch_id=1, status=1)
    await any_pool_service.maintainer.run_once()

    items = await any_pool_service.pop("mine", TITLES, 9)
    assert {item.text for item in items} == {"title 20", "title 12", "title 3"}


async def test_a_sweep_comes_to_every_row_part_by_part(
    any_pool_service: PoolService, table: SourceRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_tables, "LATE_IDS", 3)
    monkeypatch.setattr(source_tables, "SWEEP_IDS", 4)
    group = await any_pool_service.create("mine", PROGRAMS_ONLY, from_table(table.name))
    await table.add_titles(*range(20), group_id=group.id, batch_id=1, status=0)
    await any_pool_service.maintainer.read_source_tables()

    await table.change("UPDATE {table} SET status = 1")
    counts = []
    for _ in range(6):
        await any_pool_service.maintainer.sweep_source_tables()
        counts.append((await any_pool_service.status("mine", TITLES)).counts.available)

    assert counts == [7, 11, 15, 19, 20, 20]


async def test_one_table_or_view_can_fill_both_pools_of_a_group(
    any_pool_service: PoolService, table: SourceRows
) -> None:
    await table.change("CREATE VIEW {table}_view AS SELECT id, title, content FROM {table} WHERE status = 1")
    both = from_table(f"{table.name}_view")
    await any_pool_service.create("mine", PROGRAMS_ONLY, both, both)
    await table.add({"id": 1, "title": "5 < 6", "content": "<p>汉字 🎉</p><script>alert(1)</script>", "status": 1})
    await table.add({"id": 2, "title": "hidden", "content": "hidden", "status": 0})

    await any_pool_service.maintainer.run_once()

    taken = [await any_pool_service.pop("mine", kind, 9) for kind in PoolKind]
    assert [[item.text for item in items] for items in taken] == [["5 < 6"], ["<p>汉字 🎉</p>"]]


async def test_rows_without_a_batch_have_that_of_their_time(
    any_pool_service: PoolService, any_db: Database, table: SourceRows
) -> None:
    group = await any_pool_service.create("mine", PoolRule(), from_table(table.name))
    await add_entries(any_db, ["an entry"], any_pool_service.tools.clock() - MINUTE)
    await table.add_titles(1, group_id=group.id, status=1)

    await any_pool_service.maintainer.run_once()

    assert [item.text for item in await any_pool_service.pop("mine", TITLES, 9)] == ["title 1", "an entry"]


async def test_rows_that_cannot_be_stored_are_reported_and_the_others_taken(
    any_pool_service: PoolService, table: SourceRows
) -> None:
    group = await any_pool_service.create("mine", PROGRAMS_ONLY, from_table(table.name))
    same = {"group_id": group.id, "status": 1}
    await table.add_titles(1, 5, **same)
    await table.add({"id": 2, "title": "x" * (MAX_TEXT_LENGTH[TITLES] + 1)} | same)
    await table.add({"id": 3, "title": " "} | same, {"id": 4, "title": None} | same)
    await table.add_titles(6, batch_id=-1, **same)

    with capture_logs() as logs:
        await any_pool_service.maintainer.read_source_tables()

    [refused] = [line for line in logs if line["event"] == "pool_rows_refused"]
    assert (refused["rows"], refused["id"], refused["reason"]) == (4, 2, "the text is longer than 10,000 characters")
    assert {item.text for item in await any_pool_service.pop("mine", TITLES, 9)} == {"title 1", "title 5"}


async def test_a_pass_reads_a_limited_number_of_rows(
    any_pool_service: PoolService, table: SourceRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_tables, "PAGE", 2)
    monkeypatch.setattr(source_tables, "MAX_PAGES", 3)
    monkeypatch.setattr(source_tables, "ROWS_AT_ONCE", {TITLES: 1})
    group = await any_pool_service.create("mine", PROGRAMS_ONLY, from_table(table.name))
    await table.add_titles(*range(8), group_id=group.id, batch_id=1, status=1)

    counts = []
    for _ in range(3):
        await any_pool_service.maintainer.read_source_tables()
        counts.append((await any_pool_service.status("mine", TITLES)).counts.available)

    assert counts == [6, 8, 8]


async def test_several_processes_take_each_row_once(any_pool_service: PoolService, table: SourceRows) -> None:
    group = await any_pool_service.create("mine", PROGRAMS_ONLY, from_table(table.name))
    await table.add_titles(*range(30), group_id=group.id, batch_id=1, status=1)
    others = [PoolService(any_pool_service.tools) for _ in range(3)]

    await asyncio.gather(*(each.maintainer.read_source_tables() for each in others))

    items = await any_pool_service.pop("mine", TITLES, 99)
    assert [item.text for item in items] == [f"title {id}" for id in range(30)]


class Killed(BaseException):
    """Ends the process in the middle of its work."""


@dataclass
class MortalDatabase:
    """A database whose user is killed after so many calls, before or after the last one had its effect."""

    db: Database
    calls: int

    @property
    def dialect_name(self) -> str:
        return self.db.dialect_name

    async def query(self, *args: Any) -> list[Row]:
        return list(await self._count(lambda: self.db.query(*args)))

    async def batch(self, *args: Any) -> list[int]:
        return list(await self._count(lambda: self.db.batch(*args)))

    async def _count(self, work: Callable[[], Awaitable[Any]]) -> Any:
        self.calls -= 1
        if self.calls < 0:
            raise Killed
        done = await work()
        if self.calls == 0:
            raise Killed
        return done


async def test_killed_at_any_point_and_run_again_it_takes_each_row_once(
    bare_pools: PoolService, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_tables, "PAGE", 2)
    monkeypatch.setattr(source_tables, "ROWS_AT_ONCE", {TITLES: 1})
    name = f"own_{token_hex(4)}"
    await db.exec(f"CREATE TABLE {name} ({COLUMNS})")
    group = await bare_pools.create("mine", PROGRAMS_ONLY, from_table(name))
    rows, handed_out = SourceRows(db, name), list[str]()
    kills = 0
    for calls in range(1, 60):
        await rows.add_titles(2 * calls, 2 * calls + 1, group_id=group.id, batch_id=1, status=1)
        mortal: Any = MortalDatabase(db, calls)
        try:
            await PoolService(replace(bare_pools.tools, db=mortal)).maintainer.run_once()
        except Killed:
            kills += 1
        handed_out += await taken(bare_pools)

    await bare_pools.maintainer.run_once()
    while more := await taken(bare_pools):
        handed_out += more
    await db.exec(f"DROP TABLE {name}")

    assert kills > 30
    assert sorted(handed_out) == sorted(f"title {id}" for id in range(2, 120))


async def taken(pools: PoolService) -> list[str]:
    try:
        return [item.text for item in await pools.pop("mine", TITLES, 2)]
    except PoolEmpty:
        return []


async def test_a_full_pool_takes_no_more_and_continues_when_there_is_room(
    any_pool_service: PoolService, table: SourceRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_tables, "PAGE", 2)
    monkeypatch.setattr(source_tables, "MAX_WAITING_ITEMS", 3)
    group = await any_pool_service.create("mine", PROGRAMS_ONLY, from_table(table.name))
    await table.add_titles(*range(9), group_id=group.id, batch_id=1, status=1)

    await any_pool_service.maintainer.run_once()
    assert (await any_pool_service.status("mine", TITLES)).counts.available == 4
    first = await any_pool_service.pop("mine", TITLES, 4)
    for _ in range(2):
        await any_pool_service.maintainer.run_once()
        first += await any_pool_service.pop("mine", TITLES, 4)

    assert [item.text for item in first] == [f"title {id}" for id in range(9)]


async def test_leases_work_as_for_other_texts(any_pool_service: PoolService, table: SourceRows) -> None:
    options = PoolOptions(guarantee=Guarantee.LEASE, source_table=table.name)
    group = await any_pool_service.create("mine", PROGRAMS_ONLY, options)
    await table.add_titles(1, group_id=group.id, batch_id=1, status=1)
    await any_pool_service.maintainer.run_once()

    leased = await any_pool_service.lease("mine", TITLES)
    await any_pool_service.nack("mine", TITLES, leased.token, [leased.items[0].id])
    again = await any_pool_service.lease("mine", TITLES)

    assert [item.text for item in again.items] == ["title 1"]
    assert await any_pool_service.ack("mine", TITLES, again.token, [again.items[0].id]) == 1


# --- what can't be a source table -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "x; DROP TABLE users",
        'x"; DELETE FROM users; --',
        "x` WHERE 1=1 --",
        "x'",
        "public.texts",
        "main.texts",
        "own texts",
        "1st",
        "täbelle",
        "x\n",
        "x\x00",
        "x" * 64,
        "x" * 1_000_000,
    ],
)
async def test_a_name_that_is_no_plain_identifier_is_refused(bare_pools: PoolService, name: str) -> None:
    with pytest.raises(BadInput, match="letters, digits and _") as refused:
        await bare_pools.create("mine", PROGRAMS_ONLY, from_table(name))

    assert refused.value.field == "titles.source_table"
    assert await bare_pools.groups() == []


@pytest.mark.parametrize(
    "name", ["entries", "ENTRIES", "pool_texts", "users", "search_texts", "sqlite_master", "pg_class"]
)
async def test_tables_of_feedmill_and_of_the_database_are_refused(bare_pools: PoolService, name: str) -> None:
    with pytest.raises(BadInput, match="belongs to Feedmill or to the database"):
        await bare_pools.create("mine", PROGRAMS_ONLY, from_table(name))


@pytest.mark.parametrize("name", ["titles", "Contents", "items"])
async def test_the_names_of_the_views_are_refused_because_programs_mark_items_there(
    bare_pools: PoolService, name: str
) -> None:
    with pytest.raises(BadInput, match="CREATE VIEW my_"):
        await bare_pools.create("mine", PROGRAMS_ONLY, from_table(name))


async def test_a_missing_table_is_an_error_that_says_what_to_do(any_pool_service: PoolService) -> None:
    with pytest.raises(BadInput, match=r"no table or view own_titles in Feedmill's database.*create it there"):
        await any_pool_service.create("mine", PROGRAMS_ONLY, from_table("own_titles"))


async def test_a_missing_column_is_named(any_pool_service: PoolService, table: SourceRows) -> None:
    await table.change("CREATE VIEW {table}_view AS SELECT id, title FROM {table}")

    with pytest.raises(BadInput, match="no column content / text") as refused:
        await any_pool_service.create("mine", PROGRAMS_ONLY, contents=from_table(f"{table.name}_view"))

    assert refused.value.field == "contents.source_table"


async def test_ids_that_are_not_whole_numbers_are_refused(any_pool_service: PoolService, table: SourceRows) -> None:
    await table.add_titles(1, batch_id=1)
    await table.change("CREATE VIEW {table}_view AS SELECT title AS id, title FROM {table}")

    with pytest.raises(BadInput, match=r"column id of the table .* not whole numbers"):
        await any_pool_service.create("mine", PROGRAMS_ONLY, from_table(f"{table.name}_view"))


async def test_a_table_that_is_gone_is_reported_once_and_stops_nothing_else(
    any_pool_service: PoolService, table: SourceRows
) -> None:
    group = await any_pool_service.create("mine", PROGRAMS_ONLY, from_table(table.name))
    await table.add_titles(1, group_id=group.id, batch_id=1, status=1)
    await any_pool_service.maintainer.run_once()
    await table.change("DROP TABLE {table}")

    with capture_logs() as logs:
        for _ in range(2):
            await any_pool_service.maintainer.run_once()

    assert [line["event"] for line in logs if line["log_level"] == "warning"] == ["pool_table_unreadable"]
    assert "create it there" in str((await any_pool_service.status("mine", TITLES)).source_problem)
    failure = any_pool_service.last_failure(group.id, TITLES)
    assert failure is not None
    assert "create it there" in str(failure.reason)
    # The group can still be changed, and what was taken is handed out.
    await any_pool_service.change("mine", name="renamed")
    assert [item.text for item in await any_pool_service.pop("renamed", TITLES)] == ["title 1"]


@pytest.mark.parametrize("any_db", ["postgresql"], indirect=True)
async def test_a_table_that_we_may_not_read_is_as_good_as_missing(
    any_pool_service: PoolService, table: SourceRows, postgres_service: Service
) -> None:
    await table.change("REVOKE SELECT ON {table} FROM PUBLIC")
    program = await asyncpg.connect(postgres_service.url)
    await program.execute(f"CREATE ROLE reader; GRANT SELECT (title) ON {table.name} TO reader; SET ROLE reader")

    columns = READ_COLUMNS["postgresql"].text.replace(":table_name", "$1")

    assert [row["name"] for row in await program.fetch(columns, table.name)] == ["title"]
    await program.execute("RESET ROLE; DROP OWNED BY reader; DROP ROLE reader")
    await program.close()


async def test_a_table_that_comes_back_is_read_on(any_pool_service: PoolService, table: SourceRows) -> None:
    group = await any_pool_service.create("mine", PROGRAMS_ONLY, from_table(table.name))
    await table.add_titles(1, 2, group_id=group.id, batch_id=1, status=1)
    await any_pool_service.maintainer.run_once()
    await table.change("DROP TABLE {table}")
    await any_pool_service.maintainer.run_once()

    await table.change("CREATE TABLE {table} (id BIGINT PRIMARY KEY, title TEXT)")
    await table.add_titles(2, 3)
    await any_pool_service.maintainer.run_once()

    assert (await any_pool_service.status("mine", TITLES)).source_problem is None
    assert (await any_pool_service.status("mine", TITLES)).counts == PoolCounts(available=3)


async def test_another_table_is_read_from_its_beginning(any_pool_service: PoolService, table: SourceRows) -> None:
    group = await any_pool_service.create("mine", PROGRAMS_ONLY, from_table(table.name))
    await table.add_titles(100, group_id=group.id, batch_id=1, status=1)
    await any_pool_service.maintainer.run_once()
    await table.change("CREATE VIEW {table}_view AS SELECT id - 50 AS id, title FROM {table}")

    await any_pool_service.change("mine", titles=from_table(f"{table.name}_view"))
    await any_pool_service.maintainer.read_source_tables()

    assert (await any_pool_service.status("mine", TITLES)).counts == PoolCounts(available=2)


async def test_without_a_table_nothing_is_taken_any_more(any_pool_service: PoolService, table: SourceRows) -> None:
    group = await any_pool_service.create("mine", PROGRAMS_ONLY, from_table(table.name))
    await any_pool_service.change("mine", titles=PoolOptions())
    await table.add_titles(1, group_id=group.id, batch_id=1, status=1)

    await any_pool_service.maintainer.run_once()

    assert (await any_pool_service.status("mine", TITLES)).counts == PoolCounts()


async def test_a_table_that_fails_does_not_stop_the_others(
    bare_pools: PoolService, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = source_tables.last_id_of_page

    async def fail_one(db: Database, source: SourceTable, after: int, most: int) -> int | None:
        if source.name == "own_slow":
            raise DatabaseUnavailable("it took too long")
        return await real(db, source, after, most)

    tables = ("own_slow", "own_fast")
    for name in tables:
        await bare_pools.tools.db.exec(f"CREATE TABLE {name} (id BIGINT, text TEXT)")
        await bare_pools.create(name, PROGRAMS_ONLY, from_table(name))
        await bare_pools.tools.db.exec(f"INSERT INTO {name} VALUES (1, 'one')")
    monkeypatch.setattr(source_tables, "last_id_of_page", fail_one)

    with pytest.raises(DatabaseUnavailable):
        await bare_pools.maintainer.read_source_tables()

    assert [(await bare_pools.status(name, TITLES)).counts.available for name in tables] == [0, 1]
    failure = bare_pools.last_failure((await bare_pools.group("own_slow")).id, TITLES)
    assert failure is not None
    assert str(failure.reason) == "it took too long"
    for name in tables:
        await bare_pools.tools.db.exec(f"DROP TABLE {name}")


async def test_a_deleted_group_leaves_no_progress(any_pool_service: PoolService, table: SourceRows) -> None:
    group = await any_pool_service.create("mine", PROGRAMS_ONLY, from_table(table.name))
    await table.add_titles(1, group_id=group.id, batch_id=1, status=1)
    await any_pool_service.maintainer.run_once()

    await any_pool_service.delete("mine")

    assert await any_pool_service.tools.db.query(text("SELECT * FROM pool_source_tables")) == []
