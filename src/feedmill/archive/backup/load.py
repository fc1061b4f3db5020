"""Loads a backup into an empty database and an object store of any kind."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Table

from feedmill import __version__
from feedmill.archive.backup.file_format import (
    DATABASE,
    OBJECTS,
    OBJECTS_FOLDER,
    ROWS,
    BackupObject,
    BadBackup,
    Manifest,
    read_lines,
    read_manifest,
)
from feedmill.archive.backup.older_backups import closing_database, open_upgraded_copy
from feedmill.archive.blobs import Blobs
from feedmill.archive.files import FolderBlobs
from feedmill.archive.images.file_types import TYPE_BY_EXTENSION
from feedmill.store.archive.database_load import begin_loading, end_loading, load_rows
from feedmill.store.archive.database_snapshot import TABLES, read_table
from feedmill.store.database import Database, Row
from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.migrations import read_migrations

CHUNK_SIZE = 200
OBJECTS_AT_ONCE = 8
CONTENT_TYPES = {"xml": "application/xml", "json": "application/json", "txt": "text/plain"} | {
    extension: image.content_type for extension, image in TYPE_BY_EXTENSION.items()
}


@dataclass(frozen=True, slots=True)
class LoadedBackup:
    """Counts of what was loaded; `orphans` are rows without a parent row, `absent` objects that are only listed."""

    rows: int
    orphans: int
    objects: int
    absent: int


async def load_backup(folder: Path, db: Database, blobs: Blobs) -> LoadedBackup:
    """Loads a backup; an interrupted load can be continued. Nothing else may write in the meantime."""
    manifest = await asyncio.to_thread(read_manifest, folder)
    _refuse_newer(folder, manifest)
    await begin_loading(db, manifest.created_at)
    rows, orphans = 0, 0
    async for table, chunk in _rows(folder, manifest):
        orphans += await load_rows(db, table, chunk)
        rows += len(chunk)
    objects = await _load_objects(folder, manifest, blobs)
    await end_loading(db)
    return LoadedBackup(rows - orphans, orphans, objects, manifest.objects - objects)


def _refuse_newer(folder: Path, manifest: Manifest) -> None:
    if manifest.schema_version > _schema_version():
        made = f"Feedmill {manifest.feedmill} (schema {manifest.schema_version})"
        raise BadBackup(
            f"{folder} was made by {made}, this is {__version__} (schema {_schema_version()}): load it with"
            f" {manifest.feedmill} or later"
        )


def _schema_version() -> int:
    return read_migrations("sqlite")[-1].version


async def _rows(folder: Path, manifest: Manifest) -> AsyncIterator[tuple[Table, list[Row]]]:
    """Yields all rows, parents before children."""
    if manifest.schema_version < _schema_version():
        async with open_upgraded_copy(folder, manifest.schema_version) as upgraded:
            async for table, page in _rows_of(upgraded):
                yield table, page
    elif (folder / DATABASE).exists():
        async with closing_database(SqliteDatabase(folder / DATABASE)) as copy:
            async for table, page in _rows_of(copy):
                yield table, page
    else:
        for table in TABLES:
            for chunk in read_lines(folder / ROWS / f"{table.name}.jsonl.gz", dict[str, Any], CHUNK_SIZE):
                yield table, list(chunk)


async def _rows_of(copy: Database) -> AsyncIterator[tuple[Table, list[Row]]]:
    for table in TABLES:
        async for page in read_table(copy, table):
            yield table, page


async def _load_objects(folder: Path, manifest: Manifest, blobs: Blobs) -> int:
    if not manifest.with_objects:
        return 0
    copies, slots = FolderBlobs(folder / OBJECTS_FOLDER), asyncio.Semaphore(OBJECTS_AT_ONCE)

    async def load(entry: BackupObject) -> None:
        async with slots:
            extension = entry.key.rpartition(".")[2]
            await blobs.put(
                entry.key, await copies.get(entry.key), CONTENT_TYPES.get(extension, "application/octet-stream")
            )

    for chunk in read_lines(folder / OBJECTS, BackupObject, CHUNK_SIZE):
        await asyncio.gather(*map(load, chunk))
    return manifest.objects
