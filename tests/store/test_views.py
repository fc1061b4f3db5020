"""Views with the names of other designs, on each of the four databases: what they show, and the one change of them."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import pytest
from sqlalchemy import text

from feedmill.errors import DatabaseError, NameTaken, StatementRefused
from feedmill.model.pool import PoolGroup, PoolItemState, PoolKey, PoolKind, PoolOptions, PoolRule, PoolText
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Row, Step
from feedmill.store.drivers.mysql import MysqlDatabase
from feedmill.store.drivers.postgres import PostgresDatabase
from feedmill.store.pools.groups import add_group
from feedmill.store.pools.items import claim_items
from feedmill.store.pools.lost_items import hold_items
from feedmill.store.pools.texts import add_texts
from feedmill.store.schema import pool_items
from feedmill.store.views import VIEWS, create_views, created_views, drop_views
from tests.pools.pool_rows import MINUTE, NOW, add_entries, add_pool, items_of, revise
from tests.services.server import Service
from tests.waiting import until

TITLES, CONTENTS = PoolKind.TITLES, PoolKind.CONTENTS
# There the view itself is updated: any status can be written, and nothing else is.
NOT_MARIADB = ["sqlite", "postgresql", "d1"]
# As the fifth document has them.
FALLBACK = """
    SELECT id, title as text FROM titles
    WHERE group_id = :group_id AND status = 1
    ORDER BY batch_id DESC, id ASC
    LIMIT 1
"""
USED = "UPDATE titles SET status = 0 WHERE id = :id"
# The form that claims an item.
CLAIM = "UPDATE titles SET status = 0 WHERE id = :id AND status = 1"


@pytest.fixture
async def views(any_db: Database) -> AsyncIterator[Database]:
    await create_views(any_db)
    yield any_db
    await drop_views(any_db)


@pytest.fixture
async def group(views: Database) -> PoolGroup:
    """A group with five texts, the newest batch last."""
    group = await add_group(views, "mine", PoolRule(no_entries=True), PoolOptions(), PoolOptions(), NOW)
    texts = [PoolText(name, f"text {name}", batch) for name, batch in zip("abcde", (1, 1, 1, 2, 2), strict=True)]
    for kind in PoolKind:
        await add_texts(views, PoolKey(group.id, kind), texts, "writer/1", NOW)
    return group


async def select(db: Database, sql: str, **values: Any) -> list[Row]:
    return await db.query(text(sql), values)


async def change(db: Database, sql: str, **values: Any) -> int:
    [changed] = await db.batch([Step(text(sql), values)])
    return changed


async def states(db: Database, kind: PoolKind = TITLES) -> list[int]:
    return [int(str(item["status"])) for item in await items_of(db, kind)]


async def test_items_are_entries_with_the_names_of_the_fourth_document(views: Database) -> None:
    [id] = await add_entries(views, ["标题"])
    await revise(views, id, "a later title", NOW + MINUTE)

    [item] = await select(views, "SELECT id, feed_id, guid, link, title, pub_date, content_html, created_at FROM items")

    # The text stays as it was first seen.
    assert (item["id"], item["guid"], item["title"], item["content_html"]) == (id, "标题", "标题", "<p>标题</p>")
    assert item["created_at"] == "2026-02-18T08:30:00.000Z"


async def test_the_fallback_of_the_fifth_document_finds_the_next_item(views: Database, group: PoolGroup) -> None:
    pool = PoolKey(group.id, TITLES)
    await claim_items(views, pool, 1, PoolItemState.QUEUED, "filler/1", NOW)

    found = []
    for _ in range(4):
        [row] = await select(views, FALLBACK, group_id=group.id)
        found.append(row["text"])
        await change(views, USED, id=row["id"])

    # Not the one that is in a list.
    assert found == ["text e", "text a", "text b", "text c"]
    assert await states(views) == [0, 0, 0, 2, 0]
    assert await select(views, FALLBACK, group_id=group.id) == []


async def test_titles_and_contents_are_current_and_as_they_were_sent(views: Database) -> None:
    group = await add_pool(views, ["first", "second"])
    [first, _] = await select(views, "SELECT id, guid FROM items ORDER BY id")
    await revise(views, first["id"], "revised", NOW + MINUTE, "<p>revised</p>")
    await add_texts(views, PoolKey(group.id, TITLES), [PoolText("x", "sent", 1)], "writer/1", NOW)

    titles = await select(views, "SELECT group_id, title, batch_id, status FROM titles ORDER BY id")
    contents = await select(views, "SELECT content FROM contents ORDER BY id")

    assert [row["title"] for row in titles] == ["revised", "second", "sent"]
    assert [row["content"] for row in contents] == ["<p>revised</p>", "<p>second</p>"]
    assert {row["group_id"] for row in titles} == {group.id}


@pytest.mark.parametrize("state", PoolItemState)
async def test_an_item_in_any_state_is_used_after_the_update(
    views: Database, group: PoolGroup, state: PoolItemState
) -> None:
    [first, *_] = await items_of(views)
    set_state = pool_items.update().where(pool_items.c.id == first["id"]).values(status=state)
    await views.batch([Step(set_state)])

    await change(views, USED, id=first["id"])

    assert await states(views) == [0, 1, 1, 1, 1]


async def test_an_item_that_was_held_back_is_used_after_the_update(views: Database, group: PoolGroup) -> None:
    [taken] = await claim_items(views, PoolKey(group.id, TITLES), 1, PoolItemState.QUEUED, "filler/1", NOW)
    await hold_items(views, [taken.id], NOW)

    await change(views, USED, id=taken.id)

    assert await states(views) == [1, 1, 1, 0, 1]


async def test_an_update_of_one_view_changes_no_item_of_the_other(views: Database, group: PoolGroup) -> None:
    for item in await items_of(views, CONTENTS):
        await change(views, USED, id=item["id"])

    assert (await states(views), await states(views, CONTENTS)) == ([1] * 5, [1] * 5)


async def test_two_programs_never_claim_the_same_item(views: Database, group: PoolGroup) -> None:
    ids = [item["id"] for item in await items_of(views)]

    changed = await asyncio.gather(*(change(views, CLAIM, id=id) for id in ids for _ in range(4)))

    assert await states(views) == [0] * 5
    # SQLite counts no changes of a view; its programs use RETURNING.
    if isinstance(views, PostgresDatabase | MysqlDatabase):
        assert sum(changed) == 5


@pytest.mark.parametrize("any_db", ["sqlite"], indirect=True)
async def test_on_sqlite_a_claim_returns_a_row_once(views: Database, group: PoolGroup, tmp_path: Path) -> None:
    [first, *_] = await items_of(views)

    with closing(sqlite3.connect(tmp_path / "feedmill.db", isolation_level=None)) as program:
        claims = [program.execute(f"{CLAIM} RETURNING 1", {"id": first["id"]}).fetchall() for _ in range(2)]

    assert claims == [[(1,)], []]


@pytest.mark.parametrize(
    ("before", "after", "changed", "left"),
    [
        # The filler has just put it into a list: this program did not claim it.
        (PoolItemState.AVAILABLE, PoolItemState.QUEUED, "UPDATE 0", PoolItemState.QUEUED),
        # Another program has just claimed it.
        (PoolItemState.AVAILABLE, PoolItemState.USED, "UPDATE 0", PoolItemState.USED),
        # It was in a list, and another program has just reported it.
        (PoolItemState.QUEUED, PoolItemState.USED, "UPDATE 0", PoolItemState.USED),
        # It was in a list, and has just been held back: this program has it.
        (PoolItemState.QUEUED, PoolItemState.HELD, "UPDATE 1", PoolItemState.USED),
    ],
)
@pytest.mark.parametrize("any_db", ["postgresql"], indirect=True)
async def test_an_update_that_waits_for_another_change_sees_it(
    views: Database,
    group: PoolGroup,
    postgres_service: Service,
    before: PoolItemState,
    after: PoolItemState,
    changed: str,
    left: PoolItemState,
) -> None:
    [first, *_] = await items_of(views)
    one, other = [await asyncpg.connect(postgres_service.url) for _ in range(2)]
    set_state = "UPDATE pool_items SET status = $1 WHERE id = $2"
    await one.execute(set_state, before, first["id"])

    change_of_one = one.transaction()
    await change_of_one.start()
    await one.execute(set_state, after, first["id"])
    update = asyncio.create_task(other.execute("UPDATE titles SET status = 0 WHERE id = $1", first["id"]))
    await until(lambda: _is_waiting(views))
    await change_of_one.commit()

    assert await update == changed
    assert (await states(views))[0] == left
    for connection in (one, other):
        await connection.close()


async def _is_waiting(db: Database) -> bool:
    return bool(await select(db, "SELECT 1 AS found FROM pg_stat_activity WHERE wait_event_type = 'Lock'"))


@pytest.mark.parametrize("any_db", ["postgresql"], indirect=True)
async def test_a_program_needs_rights_for_the_views_alone(
    views: Database, group: PoolGroup, postgres_service: Service
) -> None:
    [first, *_] = await items_of(views)
    program = await asyncpg.connect(postgres_service.url)
    for sql in (
        "CREATE ROLE consumer",
        "GRANT SELECT, UPDATE (status) ON titles, contents TO consumer",
        "SET ROLE consumer",
    ):
        await program.execute(sql)

    assert await program.execute("UPDATE titles SET status = 0 WHERE id = $1", first["id"]) == "UPDATE 1"
    assert len(await program.fetch("SELECT title FROM titles WHERE status = 1")) == 4
    for denied in ("SELECT * FROM pool_items", "UPDATE titles SET batch_id = 9", "SELECT * FROM items"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await program.execute(denied)

    await program.execute("RESET ROLE")
    await program.execute("DROP OWNED BY consumer")
    await program.execute("DROP ROLE consumer")
    await program.close()


@pytest.mark.parametrize("any_db", ["mariadb"], indirect=True)
async def test_on_mariadb_too_a_program_needs_rights_for_the_views_alone(
    views: Database, group: PoolGroup, mariadb_service: Service
) -> None:
    [first, *_] = await items_of(views)
    await views.exec("CREATE USER consumer@localhost IDENTIFIED BY 'secret'")
    await views.exec("GRANT SELECT, UPDATE (status) ON titles TO consumer@localhost")
    server = urlsplit(mariadb_service.url)
    program = MysqlDatabase(server._replace(netloc=f"consumer:secret@127.0.0.1:{server.port}").geturl())

    assert await change(program, USED, id=first["id"]) == 1
    assert len(await select(program, "SELECT title FROM titles WHERE status = 1")) == 4
    for denied in ("UPDATE titles SET batch_id = 9", "UPDATE pool_items SET status = 1", "DELETE FROM titles"):
        with pytest.raises(DatabaseError):
            await change(program, denied)

    await program.close()
    await views.exec("DROP USER consumer@localhost")
    assert await states(views) == [0, 1, 1, 1, 1]


async def test_nothing_else_can_be_changed(views: Database, group: PoolGroup) -> None:
    before = await select(views, "SELECT * FROM titles ORDER BY id")

    for sql in (
        "INSERT INTO titles (id, group_id, status) VALUES (99, 1, 1)",
        "DELETE FROM titles",
        "UPDATE titles SET title = 'x'",
    ):
        with suppress(DatabaseError):
            await change(views, sql)

    assert await select(views, "SELECT * FROM titles ORDER BY id") == before


@pytest.mark.parametrize("any_db", NOT_MARIADB, indirect=True)
async def test_an_item_cannot_be_made_available(views: Database, group: PoolGroup) -> None:
    [first, *_] = await items_of(views)
    await change(views, USED, id=first["id"])

    with suppress(DatabaseError):
        assert await change(views, "UPDATE titles SET status = 1") == 0

    assert await states(views) == [0, 1, 1, 1, 1]


@pytest.mark.parametrize("any_db", NOT_MARIADB, indirect=True)
async def test_the_use_of_an_item_is_recorded_with_its_time(views: Database, group: PoolGroup) -> None:
    [first, *_] = await items_of(views)

    await change(views, USED, id=first["id"])

    [used, *_] = await items_of(views)
    assert used["taken_by"] == "status update"
    assert len(str(used["changed_at"])) == len(to_iso(NOW))
    assert str(used["changed_at"]) > to_iso(NOW)


async def test_names_that_others_use_are_left_alone(any_db: Database) -> None:
    await any_db.exec("CREATE TABLE titles (id INTEGER)")
    try:
        with pytest.raises(NameTaken, match="titles"):
            await create_views(any_db)
        assert await created_views(any_db) == set()

        await create_views(any_db, ["items"])
        assert await select(any_db, "SELECT id FROM items") == []
        assert await drop_views(any_db) == ["items"]
    finally:
        await any_db.exec("DROP TABLE titles")


async def test_creating_and_dropping_can_be_repeated(any_db: Database) -> None:
    for _ in range(2):
        await create_views(any_db)
    assert await created_views(any_db) == set(VIEWS)

    assert await drop_views(any_db) == sorted(VIEWS)
    assert await drop_views(any_db) == []
    with pytest.raises(StatementRefused):
        await select(any_db, "SELECT id FROM titles")


@pytest.mark.parametrize("any_db", ["sqlite"], indirect=True)
async def test_the_next_item_is_found_by_an_index_however_many_there_are(views: Database, group: PoolGroup) -> None:
    rows = await select(views, f"EXPLAIN QUERY PLAN {FALLBACK}", group_id=group.id)

    plan = "\n".join(str(row["detail"]) for row in rows)
    assert "pool_items USING INDEX pool_items_next (group_id=? AND kind=? AND status=?)" in plan
    assert "TEMP B-TREE" not in plan
    assert "SCAN" not in plan
