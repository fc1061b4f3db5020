"""Checks the data folder: writable, private, on a local disk that has space."""

import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

from feedmill.cli.doctor.findings import CheckContext, Finding, error, ok, warning
from feedmill.cli.output.format_text import format_size
from feedmill.cli.startup.data_permissions import EVERYBODY_MASK, permission_fix, readable_by_others
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
    if existing is None or not existing.is_dir():
        yield error(Message("doctor.data_not_a_folder", folder=str(folder)), Message("doctor.data_not_a_folder_help"))
    elif not os.access(existing, os.W_OK | os.X_OK):
        yield _not_writable(existing)
    elif existing == folder:
        yield ok(Message("doctor.data_ok", folder=str(folder)))
    else:
        yield ok(Message("doctor.data_new", folder=str(folder)))


def nearest_folder(path: Path) -> Path | None:
    """The path itself or, if it does not exist, the nearest one above it that does."""
    return next((place for place in (path, *path.parents) if place.exists()), None)


def _not_writable(folder: Path) -> Finding:
    text = Message("doctor.data_not_writable", folder=str(folder))
    if os.statvfs(folder).f_flag & os.ST_RDONLY:
        return error(text, Message("doctor.data_read_only_help", folder=str(folder)))
    return error(text, Message("doctor.data_not_writable_help", user=str(os.geteuid()), folder=str(folder)))


async def check_disk(context: CheckContext) -> AsyncIterator[Finding]:
    folder = nearest_folder(context.settings.data.absolute()) or Path("/")
    free = shutil.disk_usage(folder).free
    files = os.statvfs(folder)
    if free < MIN_FREE_BYTES:
        text = Message("doctor.disk_nearly_full", free=format_size(free), folder=str(folder))
        yield error(text, Message("doctor.disk_nearly_full_help", folder=str(folder)))
    elif files.f_files and files.f_favail < MIN_FREE_FILES:
        text = Message("doctor.inodes_used_up", n=files.f_favail, folder=str(folder))
        yield error(text, Message("doctor.inodes_used_up_help", folder=str(folder)))
    else:
        yield ok(Message("doctor.disk_ok", free=format_size(free), folder=str(folder)))


async def check_file_system(context: CheckContext) -> AsyncIterator[Finding]:
    folder = sqlite_folder(context.settings)
    if folder is None or not MOUNTS.exists():
        return
    if finding := judge_file_system(folder, file_system_of(folder, MOUNTS.read_text())):
        yield finding


def sqlite_folder(settings: Settings) -> Path | None:
    """The folder of the SQLite database; None with another database."""
    url = settings.database_url
    if not url.startswith("sqlite:///"):
        return None
    return Path(url.removeprefix("sqlite:///")).expanduser().absolute().parent


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
