"""An object store that keeps only its owner: a day has hundreds of thousands of bodies, and none is read again."""

from collections.abc import AsyncIterator, Iterable
from datetime import timedelta

from feedmill.archive.blobs import Blob
from feedmill.archive.store_ownership import OWNER_KEY
from feedmill.errors import BlobMissing


class DiscardedBlobs:
    def __init__(self) -> None:
        self._owner: bytes | None = None

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        if key == OWNER_KEY:
            self._owner = data

    async def get(self, key: str, start: int = 0, end: int | None = None) -> bytes:
        if key != OWNER_KEY or self._owner is None:
            raise BlobMissing(key)
        return self._owner[start:end]

    async def list_keys(self, prefix: str) -> AsyncIterator[Blob]:
        return
        yield

    async def delete_many(self, keys: Iterable[str]) -> None:
        return

    async def url(self, key: str, expires: timedelta) -> str | None:
        return None
