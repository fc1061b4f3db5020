"""A real D1: the proxy worker under workerd, with a database in a temporary folder."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.services.node import Node, get_node
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
            yield Service("D1 (workerd)", _locked_version("workerd"), f"http://127.0.0.1:{port}")
        finally:
            end(process)


def install() -> Node:
    """Installs node, and miniflare in the version of the lock file, unless they are installed."""
    node = get_node()
    installed = HERE / "node_modules" / "miniflare" / "package.json"
    if installed.exists() and _read(installed)["version"] == _locked_version("miniflare"):
        return node
    npm = [*node.npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(npm, cwd=HERE, capture_output=True, text=True)
    if done.returncode != 0:
        raise ServiceMissing(f"npm can't install miniflare: {done.stderr[-2000:]}")
    return node


def _locked_version(package: str) -> str:
    version: str = _read(HERE / "package-lock.json")["packages"][f"node_modules/{package}"]["version"]
    return version


def _read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text())
    return document


if __name__ == "__main__":
    try:
        install()
    except ServiceMissing as missing:
        sys.exit(str(missing))
