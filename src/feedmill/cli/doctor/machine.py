"""Checks the machine: Python, SQLite, the clock, the limit of open files, the log file of the server."""

import os
import resource
import stat
import sys
import sysconfig
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from platform import python_version
from secrets import token_hex

from feedmill.adapters.database import sqlite_features
from feedmill.adapters.object_store import object_store_config, open_blobs
from feedmill.archive.object_store_config import S3Config
from feedmill.cli.doctor.findings import CheckContext, Finding, error, ok, warning
from feedmill.cli.output.format_text import format_size
from feedmill.errors import FeedmillError
from feedmill.i18n.messages import Message
from feedmill.serve.data_lock import lock_holder
from feedmill.serve.http.connections.open_file_limit import reserved_files
from feedmill.settings import Settings
from feedmill.store.admin.database_check import database_time

# The oldest that the tests run with.
OLDEST_SQLITE = (3, 40)
# A correct clock can't show a time before this code was written.
EARLIEST_CLOCK = datetime(2026, 1, 1, tzinfo=UTC)
# Claims and leases last minutes; S3 refuses requests that are 15 minutes off.
MAX_CLOCK_SKEW = timedelta(seconds=30)
LARGE_LOG_BYTES = 500_000_000


async def check_python(context: CheckContext) -> AsyncIterator[Finding]:
    yield judge_python(is_free_threaded=bool(sysconfig.get_config_var("Py_GIL_DISABLED")))


def judge_python(is_free_threaded: bool) -> Finding:
    if is_free_threaded:
        return warning(
            Message("doctor.python_free_threaded", version=python_version()),
            Message("doctor.python_free_threaded_help"),
        )
    return ok(Message("doctor.python_ok", version=python_version(), program=sys.executable))


async def check_sqlite(context: CheckContext) -> AsyncIterator[Finding]:
    if context.settings.database_url.startswith("sqlite:"):
        yield judge_sqlite(*sqlite_features())


def judge_sqlite(version: str, has_full_text_search: bool) -> Finding:
    if not has_full_text_search:
        text, remedy = (
            Message("doctor.sqlite_without_fts5", version=version),
            Message("doctor.sqlite_without_fts5_help"),
        )
        return error(text, remedy)
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST_SQLITE:
        oldest = ".".join(map(str, OLDEST_SQLITE))
        return warning(Message("doctor.sqlite_old", version=version, oldest=oldest), Message("doctor.sqlite_old_help"))
    return ok(Message("doctor.sqlite_ok", version=version))


async def check_clock(context: CheckContext) -> AsyncIterator[Finding]:
    yield judge_clock(context.now, await _other_clocks(context))


def judge_clock(now: datetime, ahead_of: Mapping[str, timedelta]) -> Finding:
    """`ahead_of` says how far our clock is ahead of those of the database and of the object store."""
    if now < EARLIEST_CLOCK:
        return error(Message("doctor.clock_in_the_past", at=now), Message("doctor.clock_help"))
    for whose, ahead in ahead_of.items():
        if abs(ahead) > MAX_CLOCK_SKEW:
            seconds = round(abs(ahead).total_seconds())
            other = Message(f"doctor.whose_{whose}")
            if ahead > timedelta():
                return error(Message("doctor.clock_ahead", seconds=seconds, other=other), Message("doctor.clock_help"))
            return error(Message("doctor.clock_behind", seconds=seconds, other=other), Message("doctor.clock_help"))
    return ok(Message("doctor.clock_ok", at=now))


async def _other_clocks(context: CheckContext) -> dict[str, timedelta]:
    ahead_of = {}
    if context.db is not None:
        ahead_of["database"] = datetime.now(UTC) - await database_time(context.db)
    try:
        if isinstance(object_store_config(context.settings), S3Config):
            ahead_of["store"] = datetime.now(UTC) - await _store_time(context.settings)
    except FeedmillError:
        pass  # the check of the object store reports why
    return ahead_of


async def _store_time(settings: Settings) -> datetime:
    """When the object store says that an object was written just now."""
    blobs, prefix = open_blobs(settings), f"check/{token_hex(8)}/"
    await blobs.put(f"{prefix}clock", b"", "text/plain")
    [blob] = [blob async for blob in blobs.list_keys(prefix)]
    await blobs.delete_many([blob.key])
    return blob.modified_at


async def check_open_files(context: CheckContext) -> AsyncIterator[Finding]:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield judge_open_files(context.settings, None if hard == resource.RLIM_INFINITY else hard)


def judge_open_files(settings: Settings, limit: int | None) -> Finding:
    """`limit` is how many files a process may open; None for any number."""
    needed = settings.max_connections + reserved_files(settings)
    if limit is not None and limit < needed:
        text = Message("doctor.open_files_few", limit=limit, connections=settings.max_connections)
        return warning(text, Message("doctor.open_files_few_help", needed=str(needed)))
    return ok(Message("doctor.open_files_ok"))


async def check_log_file(context: CheckContext) -> AsyncIterator[Finding]:
    """Looks at the file to which the server of the data folder writes its log, if it is a file."""
    process = lock_holder(context.settings.data)
    log = log_file_of(process) if process else None
    if log is not None and log.stat().st_size > LARGE_LOG_BYTES:
        text = Message("doctor.log_large", file=str(log), size=format_size(log.stat().st_size))
        yield warning(text, Message("doctor.log_large_help", file=str(log)))


def log_file_of(process: str) -> Path | None:
    """The file that is the standard error output of a process; None if it is none, or another user's."""
    try:
        link = Path(f"/proc/{process}/fd/2")
        file = Path(os.readlink(link))
        return file if stat.S_ISREG(link.stat().st_mode) and file.is_file() else None
    except OSError:
        return None
