"""A throw-away Redis server."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from tests.services.server import Service, end, find_binary, folder, free_port, launch, wait_for_port


@contextmanager
def running_redis() -> Iterator[Service]:
    """The server named by FEEDMILL_TEST_REDIS_URL, else one of our own in a temporary folder."""
    if named := os.environ.get("FEEDMILL_TEST_REDIS_URL"):
        yield Service("Redis", "as named by FEEDMILL_TEST_REDIS_URL", named)
        return
    server = find_binary("redis-server")
    told = subprocess.run([server, "--version"], capture_output=True, text=True, check=True).stdout
    version = told.split("v=")[1].split()[0]
    with folder("redis") as home:
        port = free_port()
        process = launch(
            [server, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(home)], home / "log"
        )
        try:
            wait_for_port(port, process, home / "log")
            yield Service("Redis", version, f"redis://127.0.0.1:{port}/0")
        finally:
            end(process)
