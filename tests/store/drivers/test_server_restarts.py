"""Connection pools survive a restart of PostgreSQL and MariaDB."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest
from sqlalchemy import select, text

from feedmill.errors import DatabaseUnavailable
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.drivers.mysql import MysqlDatabase
from feedmill.store.drivers.postgres import PostgresDatabase
from feedmill.store.migrations import migrate
from feedmill.store.schema import instance_state
from tests.services.mariadb import own_mariadb
from tests.services.postgres import own_postgres
from tests.services.server import Restartable
from tests.waiting import until

KEEP = insert(instance_state, "name", "value")
READ = select(instance_state.c.name).order_by(instance_state.c.name)

# A statement that never ends, and how many connections run it or wait for a row that another one has locked.
SERVER_SIDE = {
    "postgresql": (
        "SELECT pg_sleep(3600)",
        "SELECT COUNT(*) AS number FROM pg_stat_activity WHERE wait_event = 'PgSleep'",
        "SELECT COUNT(*) AS number FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
    ),
    "mysql": (
        "DO SLEEP(3600)",
        "SELECT COUNT(*) AS number FROM information_schema.processlist WHERE state = 'User sleep'",
        "SELECT CAST(variable_value AS SIGNED) AS number FROM information_schema.global_status"
        " WHERE variable_name = 'INNODB_ROW_LOCK_CURRENT_WAITS'",
    ),
}

SERVERS: dict[str, tuple[Callable[[], AbstractContextManager[Restartable]], Callable[[str], Database]]] = {
    "postgresql": (own_postgres, PostgresDatabase),
    "mariadb": (own_mariadb, MysqlDatabase),
}


@pytest.fixture(scope="module", params=SERVERS)
def server(request: pytest.FixtureRequest) -> Iterator[tuple[Restartable, Callable[[str], Database]]]:
    # Reports what is missing, if anything is.
    request.getfixturevalue({"postgresql": "postgres_service", "mariadb": "mariadb_service"}[request.param])
    own, driver = SERVERS[request.param]
    with own() as running:
        asyncio.run(_create_tables(driver(running.service.url)))
        yield running, driver


async def _create_tables(db: Database) -> None:
    await migrate(db)
    await db.close()


async def test_an_open_pool_works_again_after_a_restart_of_the_server(
    server: tuple[Restartable, Callable[[str], Database]],
) -> None:
    running, connect = server
    db = connect(running.service.url)
    # Several connections, so that the pool has more than one dead one to replace.
    await asyncio.gather(*(db.query(READ) for _ in range(5)))

    running.stop()
    with pytest.raises(DatabaseUnavailable):
        await db.query(READ)
    with pytest.raises(DatabaseUnavailable):
        await db.batch([Step(KEEP, {"name": "while it was down", "value": ""})])
    running.start()

    await _until_it_answers(db)
    await db.batch([Step(KEEP, {"name": "afterwards", "value": ""})])
    assert {row["name"] for row in await db.query(READ)} & {"while it was down", "afterwards"} == {"afterwards"}
    await db.close()


async def test_a_restart_between_two_requests_causes_no_error(
    server: tuple[Restartable, Callable[[str], Database]],
) -> None:
    running, connect = server
    db, after = connect(running.service.url), connect(running.service.url)
    await asyncio.gather(*(db.query(READ) for _ in range(5)))

    running.stop()
    running.start()
    await _until_it_answers(after)

    for number in range(8):
        await db.batch([Step(KEEP, {"name": f"unnoticed {number}", "value": ""})])
        await db.query(READ)
    await db.close()
    await after.close()


async def test_a_batch_cut_off_by_a_server_stop_leaves_nothing(
    server: tuple[Restartable, Callable[[str], Database]],
) -> None:
    running, connect = server
    db, other = connect(running.service.url), connect(running.service.url)
    sleeps, sleeping, blocked = SERVER_SIDE[db.dialect_name]
    steps = [Step(KEEP, {"name": f"cut {number}", "value": "x" * 100}) for number in range(1000)]

    # The other connection has written the batch's last row and does not commit, so the batch waits there.
    holding = asyncio.create_task(other.batch([Step(KEEP, {"name": "cut 999", "value": ""}), Step(text(sleeps))]))
    await until(lambda: _is_so(db, sleeping), otherwise="the other does not hold its row")
    writing = asyncio.create_task(db.batch(steps))
    await until(lambda: _is_so(db, blocked), otherwise="the batch does not come to its end")
    await asyncio.to_thread(running.stop)
    for cut_off in (writing, holding):
        with pytest.raises(DatabaseUnavailable):
            await cut_off
    running.start()

    await _until_it_answers(db)
    assert [row["name"] for row in await db.query(READ) if row["name"].startswith("cut")] == []
    await db.close()
    await other.close()


async def _is_so(db: Database, question: str) -> bool:
    [row] = await db.query(text(question))
    return bool(row["number"])


async def test_a_pool_that_was_opened_while_the_server_was_down_works_once_it_is_up(
    server: tuple[Restartable, Callable[[str], Database]],
) -> None:
    running, connect = server
    running.stop()
    db = connect(running.service.url)
    with pytest.raises(DatabaseUnavailable):
        await db.query(READ)

    running.start()

    await _until_it_answers(db)
    await db.close()


async def _until_it_answers(db: Database) -> None:
    async def answers() -> bool:
        try:
            await db.query(READ)
        except DatabaseUnavailable:
            return False
        return True

    await until(answers, otherwise="the database does not answer")
