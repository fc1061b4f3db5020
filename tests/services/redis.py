"""A temporary Redis server."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from tests.services.server import Restartable, Service, find_binary, folder, free_port


@contextmanager
def running_redis() -> Iterator[Service]:
    """The server of FEEDMILL_TEST_REDIS_URL, else a new one in a temporary folder."""
    if named := os.environ.get("FEEDMILL_TEST_REDIS_URL"):
        yield Service("Redis", "as named by FEEDMILL_TEST_REDIS_URL", named)
        return
    with own_redis() as redis:
        yield redis.service


@contextmanager
def own_redis() -> Iterator[Restartable]:
    """Runs a server without persistence; after a restart it is empty."""
    server = find_binary("redis-server")
    told = subprocess.run([server, "--version"], capture_output=True, text=True, check=True).stdout
    version = told.split("v=")[1].split()[0]
    with folder("redis") as home:
        port = free_port()
        run = [server, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(home)]
        service = Service("Redis", version, f"redis://127.0.0.1:{port}/0")
        redis = Restartable(service, run, port, home / "log", signal.SIGTERM)
        try:
            redis.start()
            yield redis
        finally:
            redis.stop()
