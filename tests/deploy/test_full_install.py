"""Everything, installed from its lock into an environment of its own, without the libraries of the tests."""

import json
import subprocess
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest

from tests.deploy.wheel import Installation, install_wheel
from tests.services.redis import own_redis
from tests.services.server import Service, free_port
from tests.waiting import wait_until

IMPORT_ALL = """
import importlib, pkgutil
from feedmill import __path__ as folders
for module in pkgutil.walk_packages(folders, "feedmill."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""


@pytest.fixture(scope="module")
def full(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return install_wheel(wheel, tmp_path_factory.mktemp("full") / "venv", lock="requirements-all.lock")


def test_every_module_finds_what_it_imports(full: Installation) -> None:
    done = subprocess.run([full.environment / "bin" / "python", "-c", IMPORT_ALL], capture_output=True, text=True)

    assert done.returncode == 0, done.stderr[-2000:]


def test_api_scheduler_and_worker_are_well(full: Installation, tmp_path: Path, postgres_service: Service) -> None:
    port = free_port()
    with own_redis() as redis, ExitStack() as processes:
        env = {
            "FEEDMILL_DATABASE": postgres_service.url,
            "FEEDMILL_REDIS": redis.service.url,
            "FEEDMILL_OBJECTS": str(tmp_path / "objects"),
            "FEEDMILL_SECRET_KEY": token_hex(32),
            "FEEDMILL_PORT": str(port),
        }
        for role in ("api", "scheduler", "worker"):
            processes.enter_context(full.running(tmp_path, role, **env))
        wait_until(lambda: _health(port).get("status") == "ok", otherwise="not all of them are well")


def _health(port: int) -> dict[str, Any]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health") as answer:
            return dict(json.load(answer))
    except OSError:
        return {}
