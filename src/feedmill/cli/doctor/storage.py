"""Checks the data folder: writable, private, on a local disk that has space."""

import os
import shlex
import shutil
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

from feedmill.adapters.database import sqlite_file
from feedmill.adapters.object_store import object_store_config
from feedmill.archive.object_store_config import FolderConfig
from feedmill.cli.doctor.findings import CheckContext, Finding, error, ok, warning
from feedmill.cli.doctor.owners import command_to_create, owner_of, user_name
from feedmill.cli.output.format_text import format_size
from feedmill.cli.startup.data_permissions import EVERYBODY_MASK, permission_fix, readable_by_others
from feedmill.errors import BadSetting
from feedmill.i18n.messages import Message
from feedmill.settings import Settings

MIN_FREE_BYTES = 500_000_000
MIN_FREE_FILES = 1000
MOUNTS = Path("/proc/self/mountinfo")
# SQLite's locks are not reliable on them.
NETWORK_FILE_SYSTEMS = frozenset(
    {"9p", "afs", "ceph", "cifs", "fuse.glusterfs", "fuse.rclone", "fuse.sshfs", "gfs2", "nfs", "nfs4", "smb3", "smbfs"}
)


async def check_data_folder(context: CheckContext) -> AsyncIterator[Finding]:
    folder = context.settings.data.absolute()
    existing = nearest_folder(folder)
    if not existing.is_dir():
        yield error(Message("doctor.data_not_a_folder", folder=str(folder)), Message("doctor.data_not_a_folder_help"))
    elif not os.access(existing, os.W_OK | os.X_OK):
        yield _not_writable(folder) if existing == folder else _not_creatable(folder, existing)
    elif existing == folder:
        yield ok(Message("doctor.data_ok", folder=str(folder)))
    else:
        yield ok(Message("doctor.data_new", folder=str(folder)))


def nearest_folder(path: Path) -> Path:
    """The path itself or, if it does not exist, the nearest one above it that does.

    Raises `PermissionError` where this user may not look; Python 3.14 would say of such a path that it does not exist.
    """
    for place in (path, *path.parents):
        with suppress(FileNotFoundError, NotADirectoryError):
            os.stat(place)
            return place
    return Path("/")


def _not_writable(folder: Path) -> Finding:
    text = Message("doctor.data_not_writable", folder=str(folder))
    if _is_read_only(folder):
        return error(text, Message("doctor.data_read_only_help", folder=str(folder)))
    user = user_name(os.geteuid())
    as_owner = shlex.join(["sudo", "-u", owner_of(folder), "feedmill", "--data", str(folder), "doctor"])
    chown = shlex.join(["chown", "-R", user, str(folder)])
    return error(text, Message("doctor.data_not_writable_help", as_owner=as_owner, user=user, chown=chown))


def _not_creatable(folder: Path, parent: Path) -> Finding:
    text = Message("doctor.data_not_creatable", folder=str(folder), parent=str(parent))
    if _is_read_only(parent):
        return error(text, Message("doctor.data_read_only_help", folder=str(parent)))
    command = command_to_create(folder, user_name(os.geteuid()))
    return error(text, Message("doctor.data_not_creatable_help", command=command))


def _is_read_only(folder: Path) -> bool:
    return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)


async def check_disk(context: CheckContext) -> AsyncIterator[Finding]:
    for folder in folders_to_fill(context.settings):
        if finding := judge_disk(folder):
            yield finding


def folders_to_fill(settings: Settings) -> list[Path]:
    """The folders of the data, the database and the objects, one of each file system."""
    named = (settings.data, sqlite_folder(settings), _objects_folder(settings))
    existing = [nearest_folder(Path(os.path.realpath(folder))) for folder in named if folder]
    by_device: dict[int, Path] = {}
    for folder in existing:
        by_device.setdefault(os.stat(folder).st_dev, folder)
    return list(by_device.values())


def _objects_folder(settings: Settings) -> Path | None:
    try:
        place = object_store_config(settings)
    except BadSetting:
        return None  # the check of the object store reports why
    return place.folder if isinstance(place, FolderConfig) else None


def judge_disk(folder: Path) -> Finding | None:
    """None of a file system that does not tell its size, as some over a network."""
    size, _, free = shutil.disk_usage(folder)
    if not size:
        return None
    files = os.statvfs(folder)
    if free < MIN_FREE_BYTES:
        text = Message("doctor.disk_nearly_full", free=format_size(free), folder=str(folder))
        return error(text, Message("doctor.disk_nearly_full_help", folder=str(folder)))
    if files.f_files and files.f_favail < MIN_FREE_FILES:
        text = Message("doctor.inodes_used_up", n=files.f_favail, folder=str(folder))
        return error(text, Message("doctor.inodes_used_up_help", folder=str(folder)))
    return ok(Message("doctor.disk_ok", free=format_size(free), folder=str(folder)))


async def check_file_system(context: CheckContext) -> AsyncIterator[Finding]:
    folder = sqlite_folder(context.settings)
    if folder is None or not MOUNTS.exists():
        return
    if finding := judge_file_system(folder, file_system_of(folder, MOUNTS.read_text())):
        yield finding


def sqlite_folder(settings: Settings) -> Path | None:
    """The folder of the SQLite database, where symbolic links lead; None with another database."""
    file = sqlite_file(settings)
    return Path(os.path.realpath(file)).parent if file else None


def judge_file_system(folder: Path, kind: str) -> Finding | None:
    if kind not in NETWORK_FILE_SYSTEMS:
        return None
    text = Message("doctor.network_file_system", folder=str(folder), kind=kind)
    return warning(text, Message("doctor.network_file_system_help"))


def file_system_of(folder: Path, mounts: str) -> str:
    """The kind of file system of a folder, from the lines of /proc/self/mountinfo (proc(5)); empty if unknown."""
    longest, kind = -1, ""
    for line in mounts.splitlines():
        mounted, _, described = line.partition(" - ")
        fields, facts = mounted.split(), described.split()
        # A space in a path is written as an octal number.
        point = Path(fields[4].replace("\\040", " ")) if len(fields) > 4 and facts else None
        if point and folder.is_relative_to(point) and len(point.parts) >= longest:
            longest, kind = len(point.parts), facts[0]
    return kind


async def check_permissions(context: CheckContext) -> AsyncIterator[Finding]:
    wide = readable_by_others(context.settings)
    if any(mode & EVERYBODY_MASK for mode in wide.values()):
        remedy = Message("doctor.private_data_readable_help", command=permission_fix(wide))
        yield error(Message("doctor.private_data_readable"), remedy)
    elif wide:
        yield ok(Message("doctor.group_can_read", paths=", ".join(map(str, wide))))
    else:
        yield ok(Message("doctor.private_data_ok"))
