"""Several PostgreSQL hosts in the URL: the driver uses that which takes writes."""

import asyncio
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from sqlalchemy import select, text

from feedmill.errors import DatabaseUnavailable
from feedmill.i18n.messages import Message
from feedmill.i18n.translator import Translator
from feedmill.settings import Settings
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.drivers.postgres import PostgresDatabase
from feedmill.store.drivers.postgres_hosts import SIGNS_OF_LIFE, urls_of_hosts
from feedmill.store.migrations import migrate
from feedmill.store.schema import instance_state
from tests.cli.doctor.findings_of import findings_of, is_error
from tests.faults.tcp_proxy import TcpProxy
from tests.services.postgres_replica import ReplicatedPostgres, replicated_postgres, run_sql
from tests.services.server import Service
from tests.waiting import slow_pace, until

KEEP = insert(instance_state, "name", "value")
READ = select(instance_state.c.name)
BACKEND = text("SELECT pg_backend_pid() AS pid")


@pytest.fixture
def pair(postgres_service: Service) -> Iterator[ReplicatedPostgres]:
    with replicated_postgres() as running:
        yield running


@pytest.fixture
def silent_host() -> Iterator[str]:
    """A host that accepts connections and never answers, as one does that hangs."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(100)
        yield f"127.0.0.1:{listening.getsockname()[1]}"


def test_each_host_has_the_login_database_and_options_of_the_url() -> None:
    urls = urls_of_hosts("postgresql://alice:p%40ss@one:1,[::1]:2,three/feeds?sslmode=require")

    assert urls == [
        "postgresql://alice:p%40ss@one:1/feeds?sslmode=require",
        "postgresql://alice:p%40ss@[::1]:2/feeds?sslmode=require",
        "postgresql://alice:p%40ss@three/feeds?sslmode=require",
    ]


async def test_an_open_pool_goes_on_with_the_promoted_standby(pair: ReplicatedPostgres) -> None:
    db = PostgresDatabase(pair.url(pair.standby, pair.primary))
    await migrate(db)
    await _keep(db, "before")

    await asyncio.to_thread(pair.primary.stop, signal.SIGKILL)
    with pytest.raises(DatabaseUnavailable):
        await _keep(db, "meanwhile")
    with pytest.raises(DatabaseUnavailable) as refusal:
        await _keep(db, "meanwhile")
    await asyncio.to_thread(pair.promote)
    await until(lambda: _is_kept(db, "after"), otherwise="the promoted standby is not used")

    reason = "none of the servers accepts writes: all that answer are standbys"
    assert _text(refusal.value.message) == f"PostgreSQL at {_hosts(pair)} can't be used: {reason}"
    assert {row["name"] for row in await db.query(READ)} & {"before", "meanwhile", "after"} == {"before", "after"}
    await db.close()


async def test_the_doctor_accepts_a_url_of_two_hosts_and_reports_a_standby_alone(
    pair: ReplicatedPostgres, tmp_path: Path
) -> None:
    db = PostgresDatabase(pair.url())
    await migrate(db)
    await db.close()
    both = Settings(data=tmp_path, database=pair.url(pair.standby, pair.primary))
    standby = Settings(data=tmp_path, database=pair.standby.service.url)

    assert "database_ok" in await findings_of(both)
    assert is_error(await findings_of(standby), "database_not_writable", "read-only")
    await asyncio.to_thread(pair.primary.stop, signal.SIGKILL)
    assert is_error(await findings_of(both), "database_unusable", "standbys")


async def test_a_host_that_does_not_answer_leaves_the_next_one_its_time(
    silent_host: str, postgres_service: Service
) -> None:
    url = postgres_service.url.replace("@", f"@{silent_host},")
    db = PostgresDatabase(url, connect_seconds=1)

    assert await db.query(select(1))
    await db.close()


async def test_the_system_ends_connections_to_a_machine_that_has_disappeared(postgres_service: Service) -> None:
    """Seen by the options of the socket alone: on this machine nothing disappears without a trace."""
    db = PostgresDatabase(postgres_service.url)
    async with db._connection() as connection:
        connected = connection._con._transport.get_extra_info("socket")
        options = {name: connected.getsockopt(socket.IPPROTO_TCP, getattr(socket, name)) for name in SIGNS_OF_LIFE}
        is_asked = connected.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
    await db.close()

    assert (is_asked, options) == (1, SIGNS_OF_LIFE)


async def test_a_connection_that_the_server_is_ending_is_replaced(postgres_service: Service) -> None:
    """The server announces the end of a connection a moment before it closes it."""
    port = urlsplit(postgres_service.url).port
    assert port is not None
    async with TcpProxy(port, hides_end=True) as proxy:
        db = PostgresDatabase(postgres_service.url.replace(f":{port}", f":{proxy.port}"), pool_size=1)
        [own] = await db.query(BACKEND)
        end_it = f"SELECT pg_terminate_backend({own['pid']}, 10000)"
        await asyncio.to_thread(run_sql, postgres_service.url, end_it)
        await slow_pace()

        async def is_replaced() -> bool:
            [row] = await db.query(BACKEND)
            return bool(row["pid"] != own["pid"])

        await until(is_replaced, otherwise="the ended connection is still used")
        await db.close()


async def _keep(db: Database, name: str) -> None:
    await db.batch([Step(KEEP, {"name": name, "value": ""})])


async def _is_kept(db: Database, name: str) -> bool:
    try:
        await _keep(db, name)
    except DatabaseUnavailable:
        return False
    return True


def _hosts(pair: ReplicatedPostgres) -> str:
    return pair.url(pair.standby, pair.primary).partition("@")[2].partition("/")[0]


def _text(message: object) -> str:
    assert isinstance(message, Message)
    return Translator("en").render(message)
