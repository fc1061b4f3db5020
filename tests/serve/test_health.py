"""`GET /health` tells the truth about the database, and takes it back when the database is back."""

import time
from pathlib import Path

import pytest

from feedmill import __version__
from tests.cli.command import Server, serving
from tests.services.postgres import own_postgres


def test_a_healthy_server_says_so_and_which_version_it_is(tmp_path: Path) -> None:
    with serving(cwd=tmp_path) as server:
        assert server.get("/health") == (200, {"status": "ok", "version": __version__, "database": "ok"})
        assert server.get("/health/live") == (200, {"status": "ok"})


@pytest.mark.usefixtures("postgres_service")
def test_a_stopped_database_is_told_and_its_return_needs_no_restart(tmp_path: Path) -> None:
    with own_postgres() as postgres, serving(cwd=tmp_path, settings={"database": postgres.service.url}) as server:
        assert server.get("/health")[0] == 200

        postgres.stop()
        status, health = server.get("/health")
        assert (status, health["status"]) == (503, "failing")
        assert "PostgreSQL" in health["database"]
        assert server.get("/health/live")[0] == 200

        postgres.start()
        assert _seconds_until_healthy(server) < 20
        assert server.stop() == 0


@pytest.mark.usefixtures("postgres_service")
def test_a_stopped_database_is_told_without_its_password(tmp_path: Path) -> None:
    with own_postgres() as postgres:
        url = postgres.service.url.replace("postgres@", "postgres:hunter2@")
        with serving(cwd=tmp_path, settings={"database": url}) as server:
            postgres.stop()
            _, health = server.get("/health")

    assert "hunter2" not in str(health)
    assert "hunter2" not in (tmp_path / "serve.log").read_text()


def _seconds_until_healthy(server: Server) -> float:
    started = time.monotonic()
    while server.get("/health")[0] != 200 and time.monotonic() - started < 30:
        time.sleep(0.1)
    return time.monotonic() - started
