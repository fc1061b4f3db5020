"""A real D1: the proxy worker under workerd, with a database in a temporary folder."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.services.node import Node, install_package, locked_version
from tests.services.server import Service, ServiceMissing, end, folder, free_port, launch, wait_for_port

HERE = Path(__file__).parent / "workerd"
TOKEN = "a-token-for-tests-Zq8Xn4Lw2Rk7Vb5T"


@contextmanager
def running_d1(**variables: str) -> Iterator[Service]:
    """A proxy worker with the token `TOKEN` that may change the schema, unless `variables` change that."""
    node = install()
    port = free_port()
    bindings = json.dumps({"PROXY_TOKEN": TOKEN, "ALLOW_EXEC": "1", **variables})
    with folder("d1") as place:
        log = place / "log"
        command = [*node.node, str(HERE / "serve.mjs"), str(port), str(place), bindings]
        process = launch(command, log, env={**os.environ, "TMPDIR": str(place)})
        try:
            wait_for_port(port, process, log)
            yield Service("D1 (workerd)", locked_version(HERE, "workerd"), f"http://127.0.0.1:{port}")
        finally:
            end(process)


def install() -> Node:
    """Installs node, and miniflare in the version of the lock file, unless they are installed."""
    return install_package(HERE, "miniflare")


if __name__ == "__main__":
    try:
        install()
    except ServiceMissing as missing:
        sys.exit(str(missing))
