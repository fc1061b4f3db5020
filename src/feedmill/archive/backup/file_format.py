"""The files of a backup: their names, the manifest, compressed JSON lines.

feedmill.db            the database, if it is SQLite; else
rows/TABLE.jsonl.gz    each table, a JSON object a line
objects.jsonl.gz       key, size and SHA-256 (where known) of every object
objects/               the objects themselves, if asked for, laid out as in a data folder
manifest.json          what is there, with checksums; written last, so without it the backup is not whole
"""

import gzip
import os
from collections.abc import Iterable, Iterator
from hashlib import file_digest
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from feedmill.errors import CallerError

FORMAT = 1
DATABASE = "feedmill.db"
ROWS = "rows"
OBJECTS = "objects.jsonl.gz"
OBJECTS_FOLDER = "objects"
MANIFEST = "manifest.json"
# Texts shrink to a third with the least effort; more effort takes five times as long for a tenth less.
COMPRESSION_LEVEL = 1

LineType = TypeVar("LineType")


class BadBackup(CallerError):
    """There is no backup there, or not a whole one, or one that this Feedmill does not understand."""


class FileChecksum(msgspec.Struct, frozen=True):
    size: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a backup has. `consistent`: all rows are of one moment.

    `encrypted_feeds` have a login that is encrypted in the rows. The key to it is not in the backup; `key_location` is
    where it was when the backup was made.
    """

    format: int = FORMAT
    feedmill: str
    created_at: str
    schema_version: int
    consistent: bool
    with_objects: bool
    objects: int
    object_bytes: int
    files: dict[str, FileChecksum]
    encrypted_feeds: int = 0
    key_location: str | None = None


class BackupObject(msgspec.Struct, frozen=True):
    """An object as a backup lists it; `sha256` is None where nobody has told it."""

    key: str
    size: int
    sha256: str | None = None


class JsonLinesWriter:
    """A new compressed file of JSON lines, flushed to the disk when it is closed."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(exist_ok=True)
        self._file = path.open("xb")
        self._gzip = gzip.GzipFile(fileobj=self._file, mode="wb", compresslevel=COMPRESSION_LEVEL, mtime=0)

    def write(self, values: Iterable[Any]) -> None:
        self._gzip.write(b"".join(msgspec.json.encode(value) + b"\n" for value in values))

    def close(self) -> None:
        self._gzip.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()


def read_lines(path: Path, kind: type[LineType], size: int) -> Iterator[list[LineType]]:
    """The lines of a file, so many at a time."""
    decoder = msgspec.json.Decoder(kind)
    with gzip.open(path, "rb") as file:
        while lot := list(islice(file, size)):
            yield [decoder.decode(line) for line in lot]


def file_checksum(path: Path) -> FileChecksum:
    with path.open("rb") as file:
        return FileChecksum(path.stat().st_size, file_digest(file, "sha256").hexdigest())


def write_manifest(folder: Path, manifest: Manifest) -> None:
    partial = folder / f"{MANIFEST}.partial"
    partial.write_bytes(msgspec.json.format(msgspec.json.encode(manifest)))
    partial.replace(folder / MANIFEST)


def read_manifest(folder: Path) -> Manifest:
    try:
        manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
    except OSError as error:
        raise BadBackup(f"{folder} has no whole backup: {MANIFEST} can't be read ({error.strerror})") from error
    except msgspec.DecodeError as error:
        raise BadBackup(f"{folder} has no backup that can be understood: {MANIFEST}: {error}") from error
    if manifest.format != FORMAT:
        raise BadBackup(f"{folder} is of format {manifest.format}, this Feedmill knows {FORMAT}: use a newer one")
    return manifest
