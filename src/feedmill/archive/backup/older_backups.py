"""Brings the rows of an older version's backup to the present schema, in a temporary SQLite file.

Its migrations run on them there, so that a backup can be loaded into any database by any later version.
"""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from feedmill.archive.backup.file_format import DATABASE, ROWS, read_lines
from feedmill.store.archive.raw_rows import RawRowWriter
from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.migrations import migrate

CHUNK_SIZE = 200
SUFFIX = ".jsonl.gz"


@asynccontextmanager
async def open_upgraded_copy(folder: Path, schema_version: int) -> AsyncIterator[SqliteDatabase]:
    """A database with the rows of the backup in the present schema; it is deleted after the block."""
    with TemporaryDirectory(prefix="feedmill-restore-") as temporary:
        file = Path(temporary) / DATABASE
        if (folder / DATABASE).exists():
            await asyncio.to_thread(shutil.copyfile, folder / DATABASE, file)
        else:
            async with closing_database(SqliteDatabase(file)) as db:
                await migrate(db, up_to=schema_version)
            await asyncio.to_thread(_copy_rows, folder, file)
        async with closing_database(SqliteDatabase(file)) as db:
            await migrate(db)
            yield db


@asynccontextmanager
async def closing_database(db: SqliteDatabase) -> AsyncIterator[SqliteDatabase]:
    try:
        yield db
    finally:
        await db.close()


def _copy_rows(folder: Path, file: Path) -> None:
    with RawRowWriter(file) as writer:
        for path in sorted((folder / ROWS).glob(f"*{SUFFIX}")):
            for chunk in read_lines(path, dict[str, Any], CHUNK_SIZE):
                writer.add(path.name.removesuffix(SUFFIX), chunk)
