"""Full disks and locked database files."""

import os
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

BLOCK = 4096


@dataclass(frozen=True)
class Disk:
    folder: Path

    @contextmanager
    def full(self, but: int = 0) -> Iterator[None]:
        """Fills the disk within the block, except for `but` bytes."""
        ballast = self.folder / "ballast"
        try:
            with ballast.open("wb", buffering=0) as file:
                _fill(file.fileno())
                file.truncate(file.tell() - but)
            yield
        finally:
            ballast.unlink(missing_ok=True)


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Disk]:
    """A disk of that size at a new folder; only root may mount one."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "feedmill-test", str(folder)], check=True)
    try:
        yield Disk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds an exclusive lock within the block."""
    connection = sqlite3.connect(path, timeout=30, isolation_level=None)
    try:
        connection.execute("BEGIN EXCLUSIVE")
        yield
        connection.execute("ROLLBACK")
    finally:
        connection.close()


def _fill(file: int) -> None:
    while True:
        try:
            os.write(file, bytes(BLOCK))
        except OSError:
            return
