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
from feedmill.store.drivers.sqlite import quick_check

CHUNK_SIZE = 1000


async def check_backup(folder: Path) -> tuple[Manifest, list[str]]:
    """Returns the manifest and the problems found; raises `BadBackup` if there is no manifest."""
    manifest = await asyncio.to_thread(read_manifest, folder)
    problems = await asyncio.to_thread(lambda: list(_check_files(folder, manifest)))
    if not problems:
        problems += await asyncio.to_thread(lambda: list(_check_database(folder)))
        problems += await _check_objects(folder, manifest)
    return manifest, problems


def _check_files(folder: Path, manifest: Manifest) -> Iterator[str]:
    for name, expected in manifest.files.items():
        yield from _check_file(folder / name, name, expected)


def _check_file(path: Path, name: str, expected: FileChecksum) -> Iterator[str]:
    try:
        found = file_checksum(path)
    except OSError as error:
        yield f"{name}: can't be read ({error.strerror})"
        return
    if found != expected:
        yield f"{name}: is not what was written ({found.size} bytes, {expected.size} then)"


def _check_database(folder: Path) -> Iterator[str]:
    if not (folder / DATABASE).exists():
        return
    if (problem := quick_check(folder / DATABASE)) != "ok":
        yield f"{DATABASE}: {problem}"


async def _check_objects(folder: Path, manifest: Manifest) -> list[str]:
    copies = FolderBlobs(folder / OBJECTS_FOLDER) if manifest.with_objects else None
    problems, count = [], 0
    for chunk in read_lines(folder / OBJECTS, BackupObject, CHUNK_SIZE):
        count += len(chunk)
        if copies is not None:
            problems += [problem for entry in chunk if (problem := await _check_object(copies, entry))]
    if count != manifest.objects:
        problems.append(f"{OBJECTS}: lists {count} objects, {manifest.objects} then")
    return problems


async def _check_object(copies: Blobs, entry: BackupObject) -> str | None:
    try:
        data = await copies.get(entry.key)
    except BlobMissing:
        return f"{entry.key}: is missing"
    if len(data) != entry.size:
        return f"{entry.key}: has {len(data)} bytes, {entry.size} then"
    if entry.sha256 is not None and sha256(data).hexdigest() != entry.sha256:
        return f"{entry.key}: is not what was kept"
    return None
