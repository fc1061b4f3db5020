"""The compose file, really started: all are well, the stores are out of reach, and nothing is lost by a restart."""

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.services.compose import STARTS, Composed, compose
from tests.waiting import wait_until

pytestmark = [pytest.mark.drill, pytest.mark.timeout(1200)]


@pytest.fixture
def composed(container_engine: Any, tmp_path: Path) -> Iterator[Composed]:
    composed = compose(container_engine, tmp_path / "deploy")
    yield composed
    composed.down("--volumes")


def test_it_starts_from_nothing_and_again_with_everything(composed: Composed) -> None:
    composed.up()
    _wait_until_well(composed)
    api = composed.container("api")
    api.run("feedmill", "user", "add", "alice", typed="correct horse battery\n" * 2)

    assert api.fails_to_run("touch", "/new")
    assert "Errors: 0" in api.run("feedmill", "doctor")
    assert _published(composed) == {"api": [f"127.0.0.1:{composed.port}"]}

    composed.down()
    composed.up()
    _wait_until_well(composed)

    assert "alice" in composed.container("api").run("feedmill", "user", "list")


def _wait_until_well(composed: Composed) -> None:
    for name in (*STARTS, "api"):
        wait_until(composed.container(name).is_healthy, otherwise=f"{name} is not healthy")
    wait_until(lambda: _health(composed.port) == "ok", otherwise="a process does not run")


def _health(port: int) -> str:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health") as answer:
            return str(json.load(answer)["status"])
    except OSError:
        return "not there"


def _published(composed: Composed) -> dict[str, list[str]]:
    """The addresses of this machine at which each service can be reached."""
    found = json.loads(composed.engine.podman("ps", "--format=json"))
    return {
        each["Names"][0].split("_")[1]: [f"{port['host_ip']}:{port['host_port']}" for port in each["Ports"]]
        for each in found
        if each["Ports"]
    }
