"""Small disks to fill and disks to write-protect: tmpfs mounts, which take root."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pytest


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A disk of that size, mounted on a new folder."""
    skip_unless_root()
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True, text=True
    )
    if mounted.returncode != 0:
        skip_or_fail_in_ci(f"a small disk can't be mounted here: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def fill_disk(disk: Path) -> Path:
    """Leaves no byte free; delete the returned file to free the space."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (65536, 512, 1):
            try:
                while True:
                    file.write(b"\0" * size)
            except OSError:
                continue
    return ballast


def make_read_only(disk: Path) -> None:
    """Makes the whole disk read-only."""
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)


def make_writable(disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,rw", disk], check=True)


def skip_unless_root() -> None:
    """Skips the test, also in CI: there the tests run as root in one job, and as an ordinary user in another."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small disk")


def skip_or_fail_in_ci(why: str) -> NoReturn:
    """Skips the test; in CI, where every suite must run, fails it."""
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)
