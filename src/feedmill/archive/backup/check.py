"""Checks a backup: reads everything in it and compares it with the manifest."""

import asyncio
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from feedmill.archive.backup.file_format import (
    DATABASE,
    OBJECTS,
    OBJECTS_FOLDER,
    BackupObject,
    FileChecksum,
    Manifest,
    file_checksum,
    read_lines,
    read_manifest,
)
from feedmill.archive.blobs import Blobs
from feedmill.archive.files import FolderBlobs
from feedmill.errors import BlobMissing
from feedmill.i18n.messages import Message
from feedmill.store.drivers.sqlite import quick_check

CHUNK_SIZE = 1000


async def check_backup(folder: Path) -> tuple[Manifest, list[Message]]:
    """Returns the manifest and the problems found; raises `BadBackup` if there is no manifest."""
    manifest = await asyncio.to_thread(read_manifest, folder)
    problems = await asyncio.to_thread(lambda: list(_check_files(folder, manifest)))
    if not problems:
        problems += await asyncio.to_thread(lambda: list(_check_database(folder)))
        problems += await _check_objects(folder, manifest)
    return manifest, problems


def _check_files(folder: Path, manifest: Manifest) -> Iterator[Message]:
    for name, expected in manifest.files.items():
        yield from _check_file(folder / name, name, expected)


def _check_file(path: Path, name: str, expected: FileChecksum) -> Iterator[Message]:
    try:
        found = file_checksum(path)
    except OSError as error:
        yield Message("backup.unreadable", name=name, detail=error.strerror or str(error))
        return
    if found != expected:
        yield Message("backup.changed", name=name, found=found.size, expected=expected.size)


def _check_database(folder: Path) -> Iterator[Message]:
    if not (folder / DATABASE).exists():
        return
    if (problem := quick_check(folder / DATABASE)) != "ok":
        yield Message("backup.database", name=DATABASE, detail=problem)


async def _check_objects(folder: Path, manifest: Manifest) -> list[Message]:
    copies = FolderBlobs(folder / OBJECTS_FOLDER) if manifest.with_objects else None
    problems, count = [], 0
    for chunk in read_lines(folder / OBJECTS, BackupObject, CHUNK_SIZE):
        count += len(chunk)
        if copies is not None:
            problems += [problem for entry in chunk if (problem := await _check_object(copies, entry))]
    if count != manifest.objects:
        problems.append(Message("backup.object_count", name=OBJECTS, found=count, expected=manifest.objects))
    return problems


async def _check_object(copies: Blobs, entry: BackupObject) -> Message | None:
    try:
        data = await copies.get(entry.key)
    except BlobMissing:
        return Message("backup.object_missing", key=entry.key)
    if len(data) != entry.size:
        return Message("backup.object_size", key=entry.key, found=len(data), expected=entry.size)
    if entry.sha256 is not None and sha256(data).hexdigest() != entry.sha256:
        return Message("backup.object_changed", key=entry.key)
    return None
