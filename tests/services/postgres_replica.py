"""A PostgreSQL primary with a streaming standby that can be promoted."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tests.services.postgres import find_program, own_postgres
from tests.services.server import Restartable, folder, unprivileged


@dataclass(frozen=True)
class ReplicatedPostgres:
    """The primary waits for the standby with each commit, so that a promotion loses none."""

    primary: Restartable
    standby: Restartable

    def url(self, *first: Restartable) -> str:
        """A URL that names both servers, in the order given."""
        servers = first or (self.primary, self.standby)
        hosts = ",".join(urlsplit(server.service.url).netloc.rpartition("@")[2] for server in servers)
        return f"postgresql://postgres@{hosts}/postgres"

    def promote(self) -> None:
        promote(self.standby)


@contextmanager
def replicated_postgres() -> Iterator[ReplicatedPostgres]:
    with own_postgres() as primary, standby_of(primary) as standby:
        yield ReplicatedPostgres(primary, standby)


@contextmanager
def standby_of(primary: Restartable, settings: Sequence[str] = ()) -> Iterator[Restartable]:
    """A copy of the primary that follows it. From now on the primary waits for it with each commit."""
    with folder("standby") as copy:
        _copy_primary(primary.service.url, copy)
        with own_postgres(kept=copy, settings=settings) as standby:
            # Set after the copy: a promoted standby has none to wait for.
            run_sql(primary.service.url, "ALTER SYSTEM SET synchronous_standby_names = '*'")
            run_sql(primary.service.url, "SELECT pg_reload_conf()")
            yield standby


def promote(standby: Restartable) -> None:
    """Makes the standby the primary; returns when it takes writes."""
    run_sql(standby.service.url, "SELECT pg_promote(true, 60)")


def run_sql(url: str, sql: str) -> str:
    """Runs one statement with psql; what it prints."""
    command = [find_program("psql"), "--no-psqlrc", "-v", "ON_ERROR_STOP=1", "-Atc", sql, url]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _copy_primary(url: str, home: Path) -> None:
    """Writes a copy of the primary's data that follows it as a standby."""
    command = [find_program("pg_basebackup"), "-d", url, "-D", str(home / "data")]
    command += ["--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast", "--no-sync"]
    subprocess.run(command, capture_output=True, check=True, cwd=home, **unprivileged())  # type: ignore[call-overload]
