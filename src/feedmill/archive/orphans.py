"""Finds orphans: objects that no row refers to."""

from collections.abc import AsyncIterable, AsyncIterator
from datetime import datetime, timedelta

from feedmill.archive.blobs import Blob, Blobs
from feedmill.archive.keys import (
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

LOT = 1000
# Whoever is about to write the row of an object has done so by then.
MIN_ORPHAN_AGE = timedelta(days=1)


async def record_orphans(db: Database, blobs: Blobs, raw: timedelta, now: datetime) -> int:
    """Puts every orphan on the record of garbage; how many there are."""
    found = 0
    async for orphans in find_orphans(db, blobs, raw, now):
        await record_garbage(db, orphans, now)
        found += len(orphans)
    return found


async def find_orphans(db: Database, blobs: Blobs, raw: timedelta, now: datetime) -> AsyncIterator[list[str]]:
    """The keys of orphans, a lot at a time; what is not named as we name things is left alone."""
    await ensure_store_ownership(db, blobs)
    settled = now - MIN_ORPHAN_AGE
    async for lot in _lots(blobs.list_keys(IMAGES_PREFIX)):
        keys = [blob.key for blob in lot if blob.modified_at < settled and parse_image_key(blob.key)]
        used = await image_keys_in_use(db, keys)
        yield [key for key in keys if key not in used]
    async for lot in _lots(blobs.list_keys(RAW_BODIES_PREFIX)):
        # A raw body without a row can still be restored from; it ends with its age, as the others do.
        keys = [blob.key for blob in lot if _ended(blob.key, now - raw) and blob.modified_at < settled]
        used = await indexed_keys(db, keys)
        yield [key for key in keys if key not in used]
    async for lot in _lots(blobs.list_keys(DESCRIPTORS_PREFIX)):
        cards = {
            id: blob.key
            for blob in lot
            if blob.modified_at < settled and (id := parse_descriptor_key(blob.key)) is not None
        }
        feeds = await feed_ids_in_use(db, list(cards))
        yield [key for id, key in cards.items() if id not in feeds]


def _ended(key: str, before: datetime) -> bool:
    backup = parse_raw_body_key(key)
    return backup is not None and backup.at < before


async def _lots(blobs: AsyncIterable[Blob]) -> AsyncIterator[list[Blob]]:
    lot: list[Blob] = []
    async for blob in blobs:
        lot.append(blob)
        if len(lot) == LOT:
            yield lot
            lot = []
    yield lot
