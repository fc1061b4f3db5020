"""Keeps temporary files in memory: most tests write a database, which is slow on a disk."""

import os
import shutil
import tempfile
from pathlib import Path

MEMORY_FOLDER = Path("/dev/shm")
# A run uses some tens of MB at once, because the files of a passed test are removed at its end.
LEAST_FREE = 1_000_000_000


def use_memory_folder(folder: Path = MEMORY_FOLDER, least_free: int = LEAST_FREE) -> None:
    """Uses it as the temporary folder, also of child processes, if it has enough space and `TMPDIR` is not set."""
    if "TMPDIR" not in os.environ and _has_room(folder, least_free):
        os.environ["TMPDIR"] = str(folder)
        tempfile.tempdir = None


def _has_room(folder: Path, least_free: int) -> bool:
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK) and shutil.disk_usage(folder).free >= least_free
