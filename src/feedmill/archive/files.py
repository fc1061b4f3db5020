"""Objects as files in a folder.

A write goes to a temporary file in `.partial`, is flushed to the disk (fsync) and renamed into place, and the rename
is flushed too: after a crash or a power cut the object is complete or absent. Deletions are not flushed; one that a
power cut undoes is found by the next search for orphans.
"""

import asyncio
import errno
import os
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from uuid import uuid4

from feedmill.archive.blobs import Blob
from feedmill.archive.object_keys import public_image_url
from feedmill.archive.object_paths import folder_of, key_of, path_of
from feedmill.errors import BlobMissing, BlobUnavailable
from feedmill.i18n.messages import Message

CHUNK_SIZE = 1000
"""Objects listed or deleted by one call on a thread."""

ABANDONED_AFTER = timedelta(hours=1)
"""The age at which a partial file can only belong to a dead process."""

RENAME_ATTEMPTS = 50
"""Attempts to rename a file into a folder that concurrent deletes keep removing; one nearly always suffices."""


class FolderBlobs:
    """The object port over a folder, which is created by the first write."""

    def __init__(self, folder: Path, images_base_url: str = "") -> None:
        self._folder = folder
        self._images_base_url = images_base_url
        self._partials = folder / ".partial"
        self._cleaned_up = False

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        await asyncio.to_thread(self._put, self._folder / path_of(key), data)

    async def get(self, key: str, start: int = 0, end: int | None = None) -> bytes:
        return await asyncio.to_thread(self._get, key, start, end)

    async def list_keys(self, prefix: str) -> AsyncIterator[Blob]:
        found = self._walk(folder_of(prefix))
        while chunk := await asyncio.to_thread(self._next_chunk, found):
            for blob in chunk:
                if blob.key.startswith(prefix):
                    yield blob

    async def delete_many(self, keys: Iterable[str]) -> None:
        paths = (self._folder / path_of(key) for key in keys)
        while chunk := list(islice(paths, CHUNK_SIZE)):
            await asyncio.to_thread(self._delete, chunk)

    async def url(self, key: str, expires: timedelta) -> str | None:
        return public_image_url(self._images_base_url, key)

    def _put(self, target: Path, data: bytes) -> None:
        with self._errors("write"):
            self._remove_abandoned_once()
            _make_folder(self._partials)
            partial = self._partials / uuid4().hex
            try:
                _write(partial, data)
                _rename(partial, target)
            finally:
                partial.unlink(missing_ok=True)

    def _get(self, key: str, start: int, end: int | None) -> bytes:
        with self._errors("read"):
            try:
                with (self._folder / path_of(key)).open("rb") as file:
                    file.seek(start)
                    return file.read() if end is None else file.read(max(0, end - start))
            except FileNotFoundError:
                raise BlobMissing(Message("objects.missing", key=repr(key))) from None

    def _next_chunk(self, found: Iterator[Blob]) -> list[Blob]:
        with self._errors("list"):
            return list(islice(found, CHUNK_SIZE))

    def _walk(self, folder: str) -> Iterator[Blob]:
        for entry in _entries(self._folder / folder):
            if entry.is_dir():
                yield from self._walk(f"{folder}{entry.name}/")
            elif (key := key_of(folder + entry.name)) is not None:
                yield from _describe(key, entry)

    def _delete(self, paths: list[Path]) -> None:
        with self._errors("delete"):
            for path in paths:
                path.unlink(missing_ok=True)
            for folder in {path.parent for path in paths}:
                self._remove_empty_folders(folder)

    def _remove_empty_folders(self, folder: Path) -> None:
        try:
            while folder != self._folder:
                folder.rmdir()
                folder = folder.parent
        except OSError:
            return  # it is not empty, or another delete removed it

    def _remove_abandoned_once(self) -> None:
        if self._cleaned_up:
            return
        self._cleaned_up = True
        oldest = time.time() - ABANDONED_AFTER.total_seconds()
        for entry in _entries(self._partials):
            with suppress(FileNotFoundError):  # it was moved into place
                if entry.stat().st_mtime < oldest:
                    Path(entry).unlink()

    @contextmanager
    def _errors(self, verb: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            raise BlobUnavailable(Message(f"objects.folder_{verb}", folder=str(self._folder), detail=reason)) from error


def _write(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _rename(source: Path, target: Path) -> None:
    """Renames a file into place, while deletes of other objects may be removing the same folders."""
    for last_try in (*[False] * RENAME_ATTEMPTS, True):
        try:
            _make_folder(target.parent)
            source.replace(target)
            break
        except FileNotFoundError:
            if last_try:
                raise
    with suppress(FileNotFoundError):  # already deleted again, with its folder
        _flush_folder(target.parent)


def _make_folder(folder: Path) -> None:
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    with suppress(FileExistsError):  # not exist_ok: it checks again, and fails if the folder was removed by then
        folder.mkdir()
    _flush_folder(folder.parent)


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # network shares flush only files
            raise
    finally:
        os.close(descriptor)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """The entries of a folder, without dot files; none if it does not exist."""
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if not entry.name.startswith(".")]
    except FileNotFoundError:
        return []


def _describe(key: str, entry: os.DirEntry[str]) -> Iterator[Blob]:
    try:
        status = entry.stat()
    except FileNotFoundError:
        return  # deleted during the listing
    yield Blob(key, status.st_size, datetime.fromtimestamp(status.st_mtime, UTC))
