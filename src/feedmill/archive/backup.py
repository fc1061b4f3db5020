"""The spine of a backup: rows as of one moment, then the objects that they speak of, and the manifest last."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from feedmill import __version__
from feedmill.archive.backup_files import (
    DATABASE,
    OBJECTS,
    OBJECTS_FOLDER,
    ROWS,
    KeptObject,
    Lines,
    Manifest,
    describe,
    write_manifest,
)
from feedmill.archive.blobs import Blob, Blobs
from feedmill.archive.files import FolderBlobs
from feedmill.archive.keys import CARDS
from feedmill.archive.ownership import MARK
from feedmill.errors import BlobMissing, CallerError
from feedmill.model.times import to_text
from feedmill.store.database import Database
from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.migrations import read_migrations
from feedmill.store.schema import image_tasks, raw_bodies
from feedmill.store.snapshots import TABLES, Reader, one_moment, read_table

COPIES_AT_ONCE = 8
CONTENT_TYPE = "application/octet-stream"


@runtime_checkable
class Copyable(Protocol):
    """A database that is a file and can copy itself while it is used."""

    async def backup(self, target: Path) -> None:
        """A consistent copy."""


class BadDestination(CallerError):
    """A backup can't be written there."""


class Objects(NamedTuple):
    number: int
    size: int


async def back_up(
    db: Database, blobs: Blobs, folder: Path, now: datetime, *, portable: bool, with_objects: bool
) -> Manifest:
    """Writes a backup into a new folder, while others read and write."""
    _make_folder(folder)
    copies = FolderBlobs(folder / OBJECTS_FOLDER) if with_objects else None
    if isinstance(db, Copyable) and not portable:
        await db.backup(folder / DATABASE)
        consistent, objects = True, await _list_copy(folder, blobs, copies)
    else:
        async with one_moment(db) as (reader, consistent):
            await _dump(reader, folder)
            objects = await _list_objects(reader, folder, blobs, copies)
    manifest = Manifest(
        feedmill=__version__,
        created_at=to_text(now),
        schema_version=read_migrations(db.dialect_name)[-1].version,
        consistent=consistent,
        with_objects=with_objects,
        objects=objects.number,
        object_bytes=objects.size,
        files={str(path.relative_to(folder)): await asyncio.to_thread(describe, path) for path in _files(folder)},
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
    """The files of the backup but for the objects, which have a list of their own."""
    return sorted([*folder.glob("*.*"), *(folder / ROWS).glob("*.*")])


async def _dump(reader: Reader, folder: Path) -> None:
    for table in TABLES:
        lines = Lines(folder / ROWS / f"{table.name}.jsonl.gz")
        async for page in read_table(reader, table):
            await asyncio.to_thread(lines.write, page)
        await asyncio.to_thread(lines.close)


async def _list_copy(folder: Path, blobs: Blobs, copies: Blobs | None) -> Objects:
    copy = SqliteDatabase(folder / DATABASE)
    try:
        return await _list_objects(copy, folder, blobs, copies)
    finally:
        await copy.close()


async def _list_objects(reader: Reader, folder: Path, blobs: Blobs, copies: Blobs | None) -> Objects:
    """Lists the objects that rows speak of, and copies them if there is a place for copies."""
    lines, count, total = Lines(folder / OBJECTS), 0, 0
    async for lot in _objects(reader, blobs):
        kept = lot if copies is None else await _copy_all(lot, blobs, copies)
        await asyncio.to_thread(lines.write, kept)
        count, total = count + len(kept), total + sum(one.size for one in kept)
    await asyncio.to_thread(lines.close)
    return Objects(count, total)


async def _objects(reader: Reader, blobs: Blobs) -> AsyncIterator[list[KeptObject]]:
    async for page in read_table(reader, raw_bodies):
        yield [KeptObject(row["key"], row["size"], row["sha256"]) for row in page]
    async for page in read_table(reader, image_tasks):
        done = [row for row in page if row["status"] == "success"]
        yield [KeptObject(row["object_key"], row["size"], row["sha256"]) for row in done]
    for prefix in (CARDS, MARK):
        yield _known([blob async for blob in blobs.list_keys(prefix)])


def _known(found: Iterable[Blob]) -> list[KeptObject]:
    return [KeptObject(blob.key, blob.size) for blob in found]


async def _copy_all(lot: list[KeptObject], blobs: Blobs, copies: Blobs) -> list[KeptObject]:
    """Copies objects; those that are gone by now, because what they belonged to was purged, are left out."""
    turn = asyncio.Semaphore(COPIES_AT_ONCE)

    async def copy(one: KeptObject) -> KeptObject | None:
        async with turn:
            try:
                data = await blobs.get(one.key)
            except BlobMissing:
                return None
            await copies.put(one.key, data, CONTENT_TYPE)
            return one

    return [one for one in await asyncio.gather(*map(copy, lot)) if one is not None]
