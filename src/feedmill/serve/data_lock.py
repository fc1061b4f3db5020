"""Locks the data folder, so that only one server runs on it."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import sleep

from feedmill.errors import CallerError

LOCK_FILE_NAME = "serve.lock"
ATTEMPTS = 20
WAIT_SECONDS = 0.05


class DataFolderBusy(CallerError):
    """Another server runs on the same data folder."""


@contextmanager
def lock_data_folder(data: Path) -> Iterator[None]:
    """Locks the data folder for this server; raises `DataFolderBusy` when another server has it."""
    path = data / LOCK_FILE_NAME
    try:
        data.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise CallerError(f"the data folder {data} can't be written to: {error.strerror}") from error
    try:
        _lock(file, data)
        yield
    finally:
        os.close(file)


def _lock(file: int, data: Path) -> None:
    # A command that looks for a server holds the lock for a moment (`lock_holder`).
    if not any(_try_lock(file) for _ in range(ATTEMPTS)):
        owner = os.pread(file, 32, 0).decode(errors="replace").strip() or "unknown"
        raise DataFolderBusy(
            f"another server (process {owner}) runs on {data}: "
            "stop it first, or give this one a folder of its own with --data"
        )
    os.ftruncate(file, 0)
    os.pwrite(file, str(os.getpid()).encode(), 0)


def _try_lock(file: int) -> bool:
    """Whether this process has the lock now; waits a little if it does not."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sleep(WAIT_SECONDS)
        return False
    return True


def lock_holder(data: Path) -> str | None:
    """The process id of the server that runs on the data folder; None without a server."""
    try:
        file = os.open(data / LOCK_FILE_NAME, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return os.pread(file, 32, 0).decode(errors="replace").strip() or "unknown"
    finally:
        os.close(file)
    return None
