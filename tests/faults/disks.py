"""Disks that can be filled: small ones of their own, which only root may mount."""

import os
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
        """Not a byte is left within the block, or no more than `but`."""
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
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "feedmill-drill", str(folder)], check=True)
    try:
        yield Disk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _fill(file: int) -> None:
    while True:
        try:
            os.write(file, bytes(BLOCK))
        except OSError:
            return
