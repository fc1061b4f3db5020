"""`feedmill api`, `worker` and `scheduler`: what they need, and how they stop."""

import os
import signal
from pathlib import Path
from secrets import token_hex

import pytest
from redis import Redis

from tests.cli import new_interpreter
from tests.cli.command import LONGEST_COMMAND, assert_one_line, environment, feedmill
from tests.services.redis import own_redis
from tests.services.server import Service
from tests.waiting import wait_until

ROLES = ("api", "scheduler", "worker")


@pytest.mark.parametrize("role", ROLES)
def test_without_redis_the_message_says_what_to_do(tmp_path: Path, role: str) -> None:
    done = feedmill(role, cwd=tmp_path, settings={"database": "postgresql://localhost/feedmill"})

    assert_one_line(done, "redis", f"feedmill {role}", "feedmill serve", code=2)


@pytest.mark.parametrize("role", ROLES)
def test_with_sqlite_the_message_says_what_to_do(tmp_path: Path, role: str) -> None:
    done = feedmill(role, cwd=tmp_path, settings={"redis": "redis://127.0.0.1:1"})

    assert_one_line(done, "database", f"feedmill {role}", "postgresql://", "feedmill serve", code=2)


@pytest.mark.parametrize("role", ["scheduler", "worker"])
def test_each_process_stops_cleanly(tmp_path: Path, role: str, postgres_service: Service) -> None:
    out, log = tmp_path / "out", tmp_path / "log"
    with own_redis() as redis, out.open("w") as to_out, log.open("w") as to_log, open(os.devnull) as nothing:
        env = environment({"database": postgres_service.url, "redis": redis.service.url})
        streams = (nothing.fileno(), to_out.fileno(), to_log.fileno())
        process = new_interpreter.start_command(role, cwd=tmp_path, env=env, streams=streams)
        try:
            wait_until(lambda: _is_present(redis.service.url) or process.poll() is not None, otherwise=log.read_text())
            process.send_signal(signal.SIGTERM)

            assert process.wait(LONGEST_COMMAND) == 0, log.read_text()
        finally:
            process.kill()
            process.wait()

    assert out.read_text() == f"Feedmill's {role} is running\n"


def _is_present(redis: str) -> bool:
    """Whether a process has reported that it runs."""
    with Redis.from_url(redis) as client:
        return bool(client.zcard("feedmill:present"))


def test_the_api_needs_a_shared_signing_key(tmp_path: Path) -> None:
    settings = {"database": "postgresql://localhost/feedmill", "redis": "redis://127.0.0.1:1"}

    assert_one_line(feedmill("api", cwd=tmp_path, settings=settings), "secret_key", "openssl rand", code=2)


def test_the_api_responds_also_while_redis_is_down(tmp_path: Path, postgres_service: Service) -> None:
    settings = {"database": postgres_service.url, "redis": "redis://127.0.0.1:1", "secret_key": token_hex(32)}

    with new_interpreter.serving(cwd=tmp_path, settings=settings, command="api") as server:
        assert server.get("/health/live")[0] == 200
        assert server.stop() == 0
