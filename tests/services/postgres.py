"""A temporary PostgreSQL server."""

import glob
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

from tests.services import later_debian
from tests.services.server import (
    Restartable,
    Service,
    ServiceMissing,
    find_binary,
    folder,
    free_port,
    hand_over,
    unprivileged,
)


@contextmanager
def running_postgres() -> Iterator[Service]:
    """The server of FEEDMILL_TEST_POSTGRES_URL, else a new one in a temporary folder."""
    if named := os.environ.get("FEEDMILL_TEST_POSTGRES_URL"):
        yield Service("PostgreSQL", "as named by FEEDMILL_TEST_POSTGRES_URL", named)
        return
    with own_postgres() as server:
        yield server.service


@contextmanager
def later_postgres() -> Iterator[Service]:
    """PostgreSQL 17 of a later Debian, unpacked aside."""
    folder = later_debian.scripts_of("postgresql-17", "usr/lib/postgresql/17/bin")
    try:
        with own_postgres(programs=folder) as server:
            yield server.service
    except subprocess.CalledProcessError as error:
        raise ServiceMissing(f"PostgreSQL 17 does not start: {error.stderr!r}") from error


@contextmanager
def own_postgres(
    kept: Path | None = None, programs: Path | None = None, settings: Sequence[str] = ()
) -> Iterator[Restartable]:
    """Runs a server in a temporary folder, or in the folder `kept` with the data of an earlier run.

    `programs` is the folder of its programs, the machine's own by default; `settings` are added to those of tests,
    such as `shared_buffers=1GB`.
    """
    initdb, postgres, pg_isready = (find_program(name, programs) for name in ("initdb", "postgres", "pg_isready"))
    version = subprocess.run([postgres, "--version"], capture_output=True, text=True, check=True).stdout.split()[2]
    with folder("postgres") if kept is None else nullcontext(kept) as home:
        data, port, who = home / "data", free_port(), unprivileged()
        if not data.exists():
            hand_over(home)
            how = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-sync"]
            init = [initdb, "--pgdata", str(data), *how]
            subprocess.run(init, check=True, capture_output=True, cwd=home, **who)  # type: ignore[call-overload]
        options = ["fsync=off", "listen_addresses=127.0.0.1", "max_connections=200", *settings]
        run = [postgres, "-D", str(data), "-p", str(port), "-k", str(home)]
        run += [part for option in options for part in ("-c", option)]
        service = Service("PostgreSQL", version, f"postgresql://postgres@127.0.0.1:{port}/postgres")
        server = Restartable(service, run, port, home / "log", signal.SIGINT, cwd=home, **who)
        try:
            server.start()
            _wait_until_ready(pg_isready, port)
            yield server
        finally:
            server.stop()


def find_program(name: str, programs: Path | None = None) -> str:
    """A program of PostgreSQL, in the folder given or wherever this machine has it."""
    if programs is not None:
        return str(programs / name)
    return find_binary(name, *sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True))


def _wait_until_ready(pg_isready: str, port: int, seconds: float = 60) -> None:
    # It listens before it accepts logins.
    deadline = time.monotonic() + seconds
    while subprocess.run([pg_isready, "-q", "-h", "127.0.0.1", "-p", str(port)]).returncode != 0:
        if time.monotonic() > deadline:
            raise ServiceMissing(f"PostgreSQL did not let anyone in within {seconds} s")
        time.sleep(0.02)


if __name__ == "__main__":
    try:
        with later_postgres():
            pass
    except ServiceMissing as missing:
        sys.exit(str(missing))
