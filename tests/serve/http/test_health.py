"""`GET /health` reports every dependency that fails, and its recovery."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from feedmill import __version__
from feedmill.app import App, build_app
from feedmill.run.announce_presence import announce_presence
from feedmill.serve.http import health
from feedmill.settings import load_settings
from feedmill.store.drivers.postgres import PostgresDatabase
from tests.cli.command import serving
from tests.services.postgres import own_postgres
from tests.services.redis import own_redis
from tests.services.server import free_port
from tests.sqlite_template import copy_template
from tests.waiting import until, wait_until


@pytest.mark.external
def test_a_healthy_server_reports_ok_and_its_version(tmp_path: Path) -> None:
    with serving(cwd=tmp_path) as server:
        states = {"database": "ok", "objects": "ok"}
        assert server.get("/health") == (200, {"status": "ok", "version": __version__, **states})
        assert server.get("/health/live") == (200, {"status": "ok"})
        assert server.get("/health/ready") == (200, {"status": "ok", "database": "ok"})


@pytest.mark.usefixtures("postgres_service")
def test_a_stopped_database_is_reported_and_its_recovery_needs_no_restart(tmp_path: Path) -> None:
    with own_postgres() as postgres, serving(cwd=tmp_path, settings={"database": postgres.service.url}) as server:
        assert server.get("/health")[0] == 200

        postgres.stop()
        status, health = server.get("/health")
        assert (status, health["status"]) == (503, "failing")
        assert "PostgreSQL" in health["database"]
        assert server.get("/health/live")[0] == 200
        assert server.get("/health/ready")[0] == 503

        postgres.start()
        wait_until(lambda: server.get("/health")[0] == 200, otherwise="it does not see that the database is back")
        assert server.stop() == 0


@pytest.mark.usefixtures("postgres_service")
def test_a_stopped_database_is_reported_without_its_password(tmp_path: Path) -> None:
    with own_postgres() as postgres:
        url = postgres.service.url.replace("postgres@", "postgres:hunter2@")
        with serving(cwd=tmp_path, settings={"database": url}) as server:
            postgres.stop()
            _, health = server.get("/health")

    assert "hunter2" not in str(health)
    assert "hunter2" not in (tmp_path / "serve.log").read_text()


@pytest.mark.external
async def test_a_server_without_redis_is_degraded_and_keeps_working(tmp_path: Path) -> None:
    with own_redis() as redis:
        async with _world(tmp_path, redis=redis.service.url) as app, _all_present(app):
            before = await _ask(app, "/health")
            redis.stop()
            away = await _ask(app, "/health")
            ready = await _ask(app, "/health/ready")

    assert (before[0], before[1]["status"]) == (200, "ok")
    assert (away[0], away[1]["status"], away[1]["redis"]) == (200, "degraded", "Redis does not answer")
    assert "Redis" in away[1]["workers"]
    assert ready == (200, {"status": "ok", "database": "ok"})


@pytest.mark.external
async def test_a_missing_worker_and_a_missing_scheduler_are_reported(tmp_path: Path) -> None:
    with own_redis() as redis:
        async with _world(tmp_path, redis=redis.service.url) as app:
            status, states = await _ask(app, "/health")

    assert (status, states["status"], states["redis"]) == (200, "degraded", "ok")
    assert (states["workers"], states["scheduler"]) == ("no worker is running", "no scheduler is running")


@pytest.mark.external
def test_an_embedded_server_reports_no_missing_processes(tmp_path: Path) -> None:
    with own_redis() as redis, serving(cwd=tmp_path, settings={"redis": redis.service.url}) as server:
        wait_until(lambda: server.get("/health")[1]["status"] == "ok", otherwise="it misses somebody")
        health = server.get("/health")[1]

    assert (health["workers"], health["scheduler"]) == ("ok", "ok")


async def test_an_object_store_that_does_not_respond_is_named(tmp_path: Path) -> None:
    bucket = f"s3://feedmill?endpoint=http://127.0.0.1:{free_port()}"
    async with _world(tmp_path, objects=bucket, s3_access_key="a", s3_secret_key="b") as app:
        status, states = await _ask(app, "/health")

    assert (status, states["status"], states["database"]) == (200, "degraded", "ok")
    assert "bucket feedmill" in states["objects"]


async def test_a_dependency_that_hangs_is_reported_after_a_timeout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "CHECK_SECONDS", 0.05)
    async with silent() as port, _world(tmp_path) as app:
        stuck = replace(app, db=PostgresDatabase(f"postgresql://127.0.0.1:{port}/feedmill"))
        status, states = await _ask(stuck, "/health/ready")
        await stuck.db.close()

    assert (status, states["database"]) == (503, "no answer within 0.05 s")


@asynccontextmanager
async def _world(folder: Path, **settings: str) -> AsyncIterator[App]:
    await copy_template(folder / "feedmill.db")
    async with build_app(load_settings(data=str(folder), **settings)) as app:
        yield app


@asynccontextmanager
async def silent() -> AsyncIterator[int]:
    """A server that accepts connections and never responds; its port."""

    async def ignore(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with await asyncio.start_server(ignore, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


async def _ask(app: App, path: str) -> tuple[int, dict[str, Any]]:
    asgi = Starlette(routes=health.routes)
    asgi.state.app = app
    async with httpx.AsyncClient(transport=httpx.ASGITransport(asgi), base_url="http://feedmill.test") as client:
        answer = await client.get(path)
    return answer.status_code, answer.json()


@asynccontextmanager
async def _all_present(app: App) -> AsyncIterator[None]:
    presence = app.coordination.presence

    async def both_are_seen() -> bool:
        return len(await presence.count_by_role()) == 2

    async with announce_presence(presence, "worker"), announce_presence(presence, "scheduler"):
        await until(both_are_seen, otherwise="nobody sees them")
        yield
