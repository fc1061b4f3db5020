"""Finds orphans: objects that no row refers to."""

from collections.abc import AsyncIterable, AsyncIterator
from datetime import datetime, timedelta

from feedmill.archive.blobs import Blob, Blobs
from feedmill.archive.object_keys import (
    DESCRIPTORS_PREFIX,
    IMAGES_PREFIX,
    RAW_BODIES_PREFIX,
    parse_descriptor_key,
    parse_image_key,
    parse_raw_body_key,
)
from feedmill.archive.store_ownership import ensure_store_ownership
from feedmill.store.archive.object_garbage import feed_ids_in_use, image_keys_in_use, record_garbage
from feedmill.store.archive.raw_bodies import indexed_keys
from feedmill.store.database import Database

CHUNK_SIZE = 1000
# By then the row of a new object has been written.
MIN_ORPHAN_AGE = timedelta(days=1)


async def record_orphans(db: Database, blobs: Blobs, raw: timedelta, now: datetime) -> int:
    """Records every orphan as garbage; returns how many there are."""
    found = 0
    async for orphans in find_orphans(db, blobs, raw, now):
        await record_garbage(db, orphans, now)
        found += len(orphans)
    return found


async def find_orphans(db: Database, blobs: Blobs, raw: timedelta, now: datetime) -> AsyncIterator[list[str]]:
    """Yields the keys of orphans in chunks; objects whose keys do not have our form are left alone."""
    await ensure_store_ownership(db, blobs)
    newest = now - MIN_ORPHAN_AGE
    async for chunk in _chunks(blobs.list_keys(IMAGES_PREFIX)):
        keys = [blob.key for blob in chunk if blob.modified_at < newest and parse_image_key(blob.key)]
        used = await image_keys_in_use(db, keys)
        yield [key for key in keys if key not in used]
    async for chunk in _chunks(blobs.list_keys(RAW_BODIES_PREFIX)):
        # A raw body without a row can still be restored from; it expires by its age, as the others do.
        keys = [blob.key for blob in chunk if _is_expired(blob.key, now - raw) and blob.modified_at < newest]
        used = await indexed_keys(db, keys)
        yield [key for key in keys if key not in used]
    async for chunk in _chunks(blobs.list_keys(DESCRIPTORS_PREFIX)):
        descriptors = {
            id: blob.key
            for blob in chunk
            if blob.modified_at < newest and (id := parse_descriptor_key(blob.key)) is not None
        }
        feeds = await feed_ids_in_use(db, list(descriptors))
        yield [key for id, key in descriptors.items() if id not in feeds]


def _is_expired(key: str, before: datetime) -> bool:
    backup = parse_raw_body_key(key)
    return backup is not None and backup.at < before


async def _chunks(blobs: AsyncIterable[Blob]) -> AsyncIterator[list[Blob]]:
    chunk: list[Blob] = []
    async for blob in blobs:
        chunk.append(blob)
        if len(chunk) == CHUNK_SIZE:
            yield chunk
            chunk = []
    yield chunk
