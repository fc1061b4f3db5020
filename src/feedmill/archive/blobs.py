"""PORT: objects under keys, in a folder (`files.py`) or a bucket (`s3.py`)."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Blob:
    """An object in a listing."""

    key: str
    size: int
    modified_at: datetime


class Blobs(Protocol):
    """An object store. A key is any text; a key whose path is longer than 900 bytes raises `ObjectKeyTooLong`.

    Every failure is a `BlobError`: `BlobMissing` when there is no such object, `BlobUnavailable` when the same call
    may work later. A cancelled call may still take effect.
    """

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        """Stores `data` under `key` atomically, and replaces what was there.

        A folder does not store the content type: whoever serves from it uses the key's extension.
        """

    async def get(self, key: str, start: int = 0, end: int | None = None) -> bytes:
        """Returns the object's bytes `[start:end]`; neither index may be negative."""

    def list_keys(self, prefix: str) -> AsyncIterator[Blob]:
        """Yields every object whose key starts with `prefix`, in any order."""

    async def delete_many(self, keys: Iterable[str]) -> None:
        """Deletes these objects; missing ones are no error."""

    async def url(self, key: str, expires: timedelta) -> str | None:
        """Returns a URL from which a browser can fetch the object; None if the caller must serve the bytes itself."""
