"""The files of a backup: their names, the manifest, compressed JSON lines.

feedmill.db            the database, if it is SQLite; else
rows/TABLE.jsonl.gz    each table, one JSON object per line
objects.jsonl.gz       key, size and SHA-256 (if known) of every object
objects/               the objects themselves, if requested, with the paths of a data folder
manifest.json          the contents with checksums; written last, so without it the backup is incomplete
"""

import gzip
import os
from collections.abc import Iterable, Iterator
from hashlib import file_digest
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from feedmill import __version__
from feedmill.errors import CallerError

FORMAT = 1
DATABASE = "feedmill.db"
ROWS = "rows"
OBJECTS = "objects.jsonl.gz"
OBJECTS_FOLDER = "objects"
MANIFEST = "manifest.json"
# The lowest level shrinks texts to a third; the highest takes five times as long for a tenth less.
COMPRESSION_LEVEL = 1

LineType = TypeVar("LineType")


class BadBackup(CallerError):
    """There is no backup, or it is incomplete, or its format is unknown to this version."""


class FileChecksum(msgspec.Struct, frozen=True):
    size: int
    sha256: str


class ManifestFormat(msgspec.Struct, frozen=True):
    """What the manifest of every format has, also of later ones."""

    format: int
    feedmill: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of a backup. `consistent`: all rows are of one moment.

    `encrypted_feeds` is the number of feeds whose login is encrypted in the rows. The key is not in the backup;
    `key_location` is where it was when the backup was made.
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
    """An object in the list of a backup; `sha256` is None where it is unknown."""

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
    """Yields the lines of a file, `size` at a time."""
    decoder = msgspec.json.Decoder(kind)
    with gzip.open(path, "rb") as file:
        while chunk := list(islice(file, size)):
            yield [decoder.decode(line) for line in chunk]


def file_checksum(path: Path) -> FileChecksum:
    with path.open("rb") as file:
        return FileChecksum(path.stat().st_size, file_digest(file, "sha256").hexdigest())


def write_manifest(folder: Path, manifest: Manifest) -> None:
    partial = folder / f"{MANIFEST}.partial"
    partial.write_bytes(msgspec.json.format(msgspec.json.encode(manifest)))
    partial.replace(folder / MANIFEST)


def read_manifest(folder: Path) -> Manifest:
    try:
        written = (folder / MANIFEST).read_bytes()
        _refuse_newer_format(folder, msgspec.json.decode(written, type=ManifestFormat))
        return msgspec.json.decode(written, type=Manifest)
    except OSError as error:
        raise BadBackup(f"{folder} has no complete backup: {MANIFEST} can't be read ({error.strerror})") from error
    except msgspec.DecodeError as error:
        raise BadBackup(f"{folder} has no readable backup: {MANIFEST}: {error}") from error


def _refuse_newer_format(folder: Path, found: ManifestFormat) -> None:
    if found.format != FORMAT:
        made = f"Feedmill {found.feedmill} in format {found.format}"
        raise BadBackup(
            f"{folder} was made by {made}, this is {__version__} (format {FORMAT}): use {found.feedmill} or later"
        )
