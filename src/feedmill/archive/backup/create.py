"""Creates a backup: the rows of one moment, then the objects that they refer to, then the manifest."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from feedmill import __version__
from feedmill.archive.backup.file_format import (
    DATABASE,
    OBJECTS,
    OBJECTS_FOLDER,
    ROWS,
    BackupObject,
    JsonLinesWriter,
    Manifest,
    file_checksum,
    write_manifest,
)
from feedmill.archive.blobs import Blob, Blobs
from feedmill.archive.files import FolderBlobs
from feedmill.archive.object_keys import DESCRIPTORS_PREFIX
from feedmill.archive.store_ownership import OWNER_KEY
from feedmill.errors import BlobMissing, CallerError
from feedmill.model.timestamps import to_iso
from feedmill.store import locks
from feedmill.store.archive.database_snapshot import TABLES, SnapshotReader, open_snapshot, read_table
from feedmill.store.database import Database
from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.feeds.read_feeds import feeds_with_http_options
from feedmill.store.migrations import read_migrations
from feedmill.store.schema import image_tasks, raw_bodies

COPIES_AT_ONCE = 8
CONTENT_TYPE = "application/octet-stream"


@runtime_checkable
class CopyableDatabase(Protocol):
    """A database that is a file and can copy itself while it is in use."""

    async def backup(self, target: Path) -> None:
        """Writes a consistent copy."""


class BadDestination(CallerError):
    """A backup can't be written to this folder."""


class ObjectTotals(NamedTuple):
    number: int
    size: int


async def create_backup(
    db: Database,
    blobs: Blobs,
    folder: Path,
    now: datetime,
    *,
    portable: bool,
    with_objects: bool,
    key_location: str | None = None,
) -> Manifest:
    """Writes a backup into a new folder, while others read and write; `key_location` is where the secret key is."""
    _make_folder(folder)
    copies = FolderBlobs(folder / OBJECTS_FOLDER) if with_objects else None
    if isinstance(db, CopyableDatabase) and not portable:
        await db.backup(folder / DATABASE)
        consistent, objects = True, await _list_copy(folder, blobs, copies)
    else:
        async with open_snapshot(db) as (reader, consistent):
            await _dump(reader, folder)
            objects = await _list_objects(reader, folder, blobs, copies)
    encrypted_feeds = len(await feeds_with_http_options(db))
    manifest = Manifest(
        feedmill=__version__,
        created_at=to_iso(now),
        schema_version=read_migrations(db.dialect_name)[-1].version,
        consistent=consistent,
        with_objects=with_objects,
        objects=objects.number,
        object_bytes=objects.size,
        files={str(path.relative_to(folder)): await asyncio.to_thread(file_checksum, path) for path in _files(folder)},
        encrypted_feeds=encrypted_feeds,
        key_location=key_location if encrypted_feeds else None,
    )
    await asyncio.to_thread(write_manifest, folder, manifest)
    return manifest


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise BadDestination(f"{folder} is not empty: a backup goes into a folder of its own")
    except OSError as error:
        raise BadDestination(f"a backup can't be written to {folder}: {error.strerror}") from error


def _files(folder: Path) -> list[Path]:
    """The files of the backup without the objects, which have their own list."""
    return sorted([*folder.glob("*.*"), *(folder / ROWS).glob("*.*")])


async def _dump(reader: SnapshotReader, folder: Path) -> None:
    for table in TABLES:
        lines = JsonLinesWriter(folder / ROWS / f"{table.name}.jsonl.gz")
        async for page in read_table(reader, table):
            await asyncio.to_thread(lines.write, page)
        await asyncio.to_thread(lines.close)


async def _list_copy(folder: Path, blobs: Blobs, copies: Blobs | None) -> ObjectTotals:
    copy = SqliteDatabase(folder / DATABASE)
    try:
        # Locks of the processes that run now: a migration of the copy would wait for them.
        await locks.delete_all(copy)
        return await _list_objects(copy, folder, blobs, copies)
    finally:
        await copy.close()


async def _list_objects(reader: SnapshotReader, folder: Path, blobs: Blobs, copies: Blobs | None) -> ObjectTotals:
    """Writes the list of objects that the rows refer to, and copies them if `copies` is given."""
    lines, count, total = JsonLinesWriter(folder / OBJECTS), 0, 0
    async for chunk in _objects(reader, blobs):
        listed = chunk if copies is None else await _copy_all(chunk, blobs, copies)
        await asyncio.to_thread(lines.write, listed)
        count, total = count + len(listed), total + sum(entry.size for entry in listed)
    await asyncio.to_thread(lines.close)
    return ObjectTotals(count, total)


async def _objects(reader: SnapshotReader, blobs: Blobs) -> AsyncIterator[list[BackupObject]]:
    async for page in read_table(reader, raw_bodies):
        yield [BackupObject(row["key"], row["size"], row["sha256"]) for row in page]
    async for page in read_table(reader, image_tasks):
        done = [row for row in page if row["status"] == "success"]
        yield [BackupObject(row["object_key"], row["size"], row["sha256"]) for row in done]
    for prefix in (DESCRIPTORS_PREFIX, OWNER_KEY):
        yield _backup_objects([blob async for blob in blobs.list_keys(prefix)])


def _backup_objects(found: Iterable[Blob]) -> list[BackupObject]:
    return [BackupObject(blob.key, blob.size) for blob in found]


async def _copy_all(chunk: list[BackupObject], blobs: Blobs, copies: Blobs) -> list[BackupObject]:
    """Copies objects; those that were purged in the meantime are left out."""
    slots = asyncio.Semaphore(COPIES_AT_ONCE)

    async def copy(entry: BackupObject) -> BackupObject | None:
        async with slots:
            try:
                data = await blobs.get(entry.key)
            except BlobMissing:
                return None
            await copies.put(entry.key, data, CONTENT_TYPE)
            return entry

    return [entry for entry in await asyncio.gather(*map(copy, chunk)) if entry is not None]
