"""A temporary MariaDB server."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.services.server import (
    Restartable,
    Service,
    ServiceMissing,
    find_binary,
    folder,
    free_port,
    unprivileged,
)


@contextmanager
def running_mariadb() -> Iterator[Service]:
    """The server of FEEDMILL_TEST_MYSQL_URL, else a new one in a temporary folder."""
    if named := os.environ.get("FEEDMILL_TEST_MYSQL_URL"):
        yield Service("MySQL", "as named by FEEDMILL_TEST_MYSQL_URL", named)
        return
    with own_mariadb() as server:
        yield server.service


@contextmanager
def own_mariadb() -> Iterator[Restartable]:
    """Runs a server in a temporary folder."""
    install, server = find_binary("mariadb-install-db"), find_binary("mariadbd")
    version = subprocess.run([server, "--version"], capture_output=True, text=True, check=True).stdout.split()[2]
    with folder("mariadb") as home:
        data, port, who = home / "data", free_port(), unprivileged()
        init = [install, "--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal"]
        subprocess.run(init, check=True, capture_output=True, cwd=home, **who)  # type: ignore[call-overload]
        run = [
            server,
            "--no-defaults",
            f"--datadir={data}",
            f"--port={port}",
            f"--socket={home}/socket",
            "--bind-address=127.0.0.1",
            "--innodb-flush-log-at-trx-commit=0",
            "--character-set-server=utf8mb4",
        ]
        service = Service("MariaDB", version, f"mysql://root@127.0.0.1:{port}/feedmill")
        running = Restartable(service, run, port, home / "log", signal.SIGTERM, cwd=home, **who)
        client = [find_binary("mariadb"), "--no-defaults", f"--socket={home}/socket", "-uroot"]
        try:
            running.start()
            _create_database(client)
            yield running
        finally:
            running.stop()


def _create_database(client: list[str], seconds: float = 60) -> None:
    """Retries, because the port opens a moment before the server accepts logins."""
    deadline = time.monotonic() + seconds
    while True:
        done = subprocess.run([*client, "-e", "CREATE DATABASE IF NOT EXISTS feedmill"], capture_output=True, text=True)
        if done.returncode == 0:
            return
        if time.monotonic() > deadline:
            raise ServiceMissing(f"MariaDB does not let us in: {done.stderr.strip()}")
        time.sleep(0.1)
