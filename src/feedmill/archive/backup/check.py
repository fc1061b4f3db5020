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

LOT = 1000


async def check_backup(folder: Path) -> tuple[Manifest, list[str]]:
    """The manifest, and what is wrong; raises `BadBackup` if there is no manifest to compare with."""
    manifest = await asyncio.to_thread(read_manifest, folder)
    wrong = await asyncio.to_thread(lambda: list(_check_files(folder, manifest)))
    if not wrong:
        wrong += await asyncio.to_thread(lambda: list(_check_database(folder)))
        wrong += await _check_objects(folder, manifest)
    return manifest, wrong


def _check_files(folder: Path, manifest: Manifest) -> Iterator[str]:
    for name, facts in manifest.files.items():
        yield from _check_file(folder / name, name, facts)


def _check_file(path: Path, name: str, facts: FileChecksum) -> Iterator[str]:
    try:
        found = file_checksum(path)
    except OSError as error:
        yield f"{name}: can't be read ({error.strerror})"
        return
    if found != facts:
        yield f"{name}: is not what was written ({found.size} bytes, {facts.size} then)"


def _check_database(folder: Path) -> Iterator[str]:
    if not (folder / DATABASE).exists():
        return
    if (said := quick_check(folder / DATABASE)) != "ok":
        yield f"{DATABASE}: {said}"


async def _check_objects(folder: Path, manifest: Manifest) -> list[str]:
    copies = FolderBlobs(folder / OBJECTS_FOLDER) if manifest.with_objects else None
    wrong, listed = [], 0
    for lot in read_lines(folder / OBJECTS, BackupObject, LOT):
        listed += len(lot)
        if copies is not None:
            wrong += [said for one in lot if (said := await _check_object(copies, one))]
    if listed != manifest.objects:
        wrong.append(f"{OBJECTS}: lists {listed} objects, {manifest.objects} then")
    return wrong


async def _check_object(copies: Blobs, one: BackupObject) -> str | None:
    try:
        data = await copies.get(one.key)
    except BlobMissing:
        return f"{one.key}: is missing"
    if len(data) != one.size:
        return f"{one.key}: has {len(data)} bytes, {one.size} then"
    if one.sha256 is not None and sha256(data).hexdigest() != one.sha256:
        return f"{one.key}: is not what was kept"
    return None
