"""Pools outlive their server: PostgreSQL and MariaDB are stopped and started again under an open pool."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest
from sqlalchemy import select

from feedmill.errors import DatabaseUnavailable
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.drivers.mysql import MysqlDatabase
from feedmill.store.drivers.postgres import PostgresDatabase
from feedmill.store.migrations import migrate
from feedmill.store.schema import facts
from tests.services.mariadb import own_mariadb
from tests.services.postgres import own_postgres
from tests.services.server import Restartable

KEEP = insert(facts, "name", "value")
READ = select(facts.c.name).order_by(facts.c.name)

SERVERS: dict[str, tuple[Callable[[], AbstractContextManager[Restartable]], Callable[[str], Database]]] = {
    "postgresql": (own_postgres, PostgresDatabase),
    "mariadb": (own_mariadb, MysqlDatabase),
}


@pytest.fixture(scope="module", params=SERVERS)
def server(request: pytest.FixtureRequest) -> Iterator[tuple[Restartable, Callable[[str], Database]]]:
    # Says what is missing, if it is.
    request.getfixturevalue({"postgresql": "postgres_service", "mariadb": "mariadb_service"}[request.param])
    own, driver = SERVERS[request.param]
    with own() as running:
        yield running, driver


async def test_an_open_pool_works_again_after_a_restart_of_the_server(
    server: tuple[Restartable, Callable[[str], Database]],
) -> None:
    running, connect = server
    db = connect(running.service.url)
    await migrate(db)
    # Several connections, so that the pool has more than one dead one to get rid of.
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


async def test_a_restart_that_nobody_noticed_costs_nothing(
    server: tuple[Restartable, Callable[[str], Database]],
) -> None:
    running, connect = server
    db, after = connect(running.service.url), connect(running.service.url)
    await migrate(db)
    await asyncio.gather(*(db.query(READ) for _ in range(5)))

    running.stop()
    running.start()
    await _until_it_answers(after)

    for number in range(8):
        await db.batch([Step(KEEP, {"name": f"unnoticed {number}", "value": ""})])
        await db.query(READ)
    await db.close()
    await after.close()


async def test_a_batch_cut_off_by_the_end_of_the_server_leaves_nothing(
    server: tuple[Restartable, Callable[[str], Database]],
) -> None:
    running, connect = server
    db = connect(running.service.url)
    await migrate(db)
    steps = [Step(KEEP, {"name": f"cut {number}", "value": "x" * 100}) for number in range(20_000)]

    writing = asyncio.create_task(db.batch(steps))
    await asyncio.sleep(0.3)
    await asyncio.to_thread(running.stop)
    with pytest.raises(DatabaseUnavailable):
        await writing
    running.start()

    await _until_it_answers(db)
    assert [row["name"] for row in await db.query(READ) if row["name"].startswith("cut")] == []
    await db.close()


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


async def _until_it_answers(db: Database, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            await db.query(READ)
        except DatabaseUnavailable:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.1)
        else:
            return
