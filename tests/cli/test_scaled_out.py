"""`feedmill api`, `worker` and `scheduler`: what they need, and how they end."""

import signal
import subprocess
import time
from pathlib import Path
from secrets import token_hex

import pytest

from tests.cli.command import COMMAND, assert_one_line, environment, feedmill, serving
from tests.services.server import Service

ROLES = ("api", "scheduler", "worker")
LONGEST_STOP = 30


@pytest.mark.parametrize("role", ROLES)
def test_without_redis_it_says_what_to_do(tmp_path: Path, role: str) -> None:
    done = feedmill(role, cwd=tmp_path, settings={"database": "postgresql://localhost/feedmill"})

    assert_one_line(done, "redis", f"feedmill {role}", "feedmill serve", code=2)


@pytest.mark.parametrize("role", ROLES)
def test_with_sqlite_it_says_what_to_do(tmp_path: Path, role: str) -> None:
    done = feedmill(role, cwd=tmp_path, settings={"redis": "redis://127.0.0.1:1"})

    assert_one_line(done, "database", f"feedmill {role}", "postgresql://", "feedmill serve", code=2)


@pytest.mark.parametrize("role", ["scheduler", "worker"])
def test_it_stops_cleanly(tmp_path: Path, role: str, postgres_service: Service, redis_service: Service) -> None:
    settings = {"database": postgres_service.url, "redis": redis_service.url}
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(
            [*COMMAND, role], cwd=tmp_path, env=environment(settings), stdout=subprocess.PIPE, stderr=log, text=True
        )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == f"Feedmill's {role} is running\n"
        time.sleep(1)
        process.send_signal(signal.SIGTERM)

        assert process.wait(LONGEST_STOP) == 0, (tmp_path / "log").read_text()
    finally:
        process.kill()
        process.communicate()


def test_an_api_does_not_sign_with_a_key_of_its_own(tmp_path: Path) -> None:
    settings = {"database": "postgresql://localhost/feedmill", "redis": "redis://127.0.0.1:1"}

    assert_one_line(feedmill("api", cwd=tmp_path, settings=settings), "secret_key", "openssl rand", code=2)


def test_the_api_answers_also_without_redis_at_hand(tmp_path: Path, postgres_service: Service) -> None:
    settings = {"database": postgres_service.url, "redis": "redis://127.0.0.1:1", "secret_key": token_hex(32)}

    with serving(cwd=tmp_path, settings=settings, command="api") as server:
        assert server.get("/health/live")[0] == 200
        assert server.stop() == 0
