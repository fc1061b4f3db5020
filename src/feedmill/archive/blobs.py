"""PORT: objects under keys, in a folder (`files.py`) or a bucket (`s3.py`)."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Blob:
    """An object as a listing tells of it."""

    key: str
    size: int
    modified_at: datetime


class Blobs(Protocol):
    """Where bytes are kept. A key is any text; a path of 900 bytes is the limit (`ObjectKeyTooLong`).

    Whatever goes wrong is a `BlobError`: `BlobMissing` when there is no such object, `BlobUnavailable` when
    the same call may work later. A call that is cancelled may still happen.
    """

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        """Keeps `data` under `key`, whole or not at all, in place of what was there.

        A folder does not keep the content type: whoever serves from it goes by the key's extension.
        """

    async def get(self, key: str, start: int = 0, end: int | None = None) -> bytes:
        """The object's bytes from `start` up to `end`, as a slice gives them; both count from the front."""

    def list_keys(self, prefix: str) -> AsyncIterator[Blob]:
        """Every object whose key starts with `prefix`, in no promised order."""

    async def delete_many(self, keys: Iterable[str]) -> None:
        """Removes these objects; those that are gone already are as good as removed."""

    async def url(self, key: str, expires: timedelta) -> str | None:
        """An address that a browser can fetch the object from; None: hand the bytes out yourself."""
