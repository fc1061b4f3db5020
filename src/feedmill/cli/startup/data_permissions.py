"""Warns when other users of the machine can read the data folder."""

import shlex
from pathlib import Path

from feedmill.adapters.database import sqlite_file
from feedmill.adapters.object_store import object_store_config
from feedmill.archive.object_store_config import FolderConfig
from feedmill.lazy_loggers import get_logger
from feedmill.secret_key import FILE_NAME
from feedmill.settings import Settings

log = get_logger(__name__)

OTHERS_MASK = 0o077
EVERYBODY_MASK = 0o007


def readable_by_others(settings: Settings) -> dict[Path, int]:
    """The private paths that other users can read, with their modes: the database, the secret key, the objects."""
    modes = {path: _mode(path) for path in _private_paths(settings)}
    return {path: mode for path, mode in modes.items() if mode & OTHERS_MASK and _is_reachable(path)}


def warn_of_wide_permissions(settings: Settings) -> None:
    """Logs a warning if other users can read private data."""
    if wide := readable_by_others(settings):
        log.warning("data_readable_by_others", paths=[str(path) for path in wide], hint=permission_fix(wide))


def permission_fix(paths: dict[Path, int]) -> str:
    return shlex.join(["chmod", "go-rwx", *map(str, paths)])


def _private_paths(settings: Settings) -> list[Path]:
    config = object_store_config(settings)
    paths = [settings.data / FILE_NAME]
    if database := sqlite_file(settings):
        paths += [database, *(database.with_name(database.name + end) for end in ("-wal", "-shm"))]
    if isinstance(config, FolderConfig):
        paths.append(config.folder)
    return paths


def _mode(path: Path) -> int:
    """The permissions of a file; 0 if it does not exist."""
    try:
        return path.stat().st_mode & 0o777
    except OSError:
        return 0


def _is_reachable(path: Path) -> bool:
    """Whether other users may enter the folder of the file."""
    return bool(_mode(path.parent) & 0o011)
