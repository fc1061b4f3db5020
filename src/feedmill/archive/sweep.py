"""The sweep for orphans: objects that no row speaks of, left by a crash between an object and its row."""

from collections.abc import AsyncIterable, AsyncIterator
from datetime import datetime, timedelta

from feedmill.archive.blobs import Blob, Blobs
from feedmill.archive.keys import BACKUPS, CARDS, IMAGES, parse_backup_key, parse_card_key, parse_image_key
from feedmill.archive.ownership import own_store
from feedmill.store.database import Database
from feedmill.store.garbage import note_garbage
from feedmill.store.orphans import feed_ids_in_use, image_keys_in_use
from feedmill.store.raw import indexed_keys

LOT = 1000
# Whoever is about to write the row of an object has done so by then.
SETTLED = timedelta(days=1)


async def sweep(db: Database, blobs: Blobs, raw: timedelta, now: datetime) -> int:
    """Puts every orphan on the record of garbage; how many there are."""
    found = 0
    async for orphans in find_orphans(db, blobs, raw, now):
        await note_garbage(db, orphans, now)
        found += len(orphans)
    return found


async def find_orphans(db: Database, blobs: Blobs, raw: timedelta, now: datetime) -> AsyncIterator[list[str]]:
    """The keys of orphans, a lot at a time; what is not named as we name things is left alone."""
    await own_store(db, blobs)
    settled = now - SETTLED
    async for lot in _lots(blobs.list_keys(IMAGES)):
        keys = [blob.key for blob in lot if blob.modified_at < settled and parse_image_key(blob.key)]
        used = await image_keys_in_use(db, keys)
        yield [key for key in keys if key not in used]
    async for lot in _lots(blobs.list_keys(BACKUPS)):
        # A raw body without a row can still be restored from; it ends with its age, as the others do.
        keys = [blob.key for blob in lot if _ended(blob.key, now - raw) and blob.modified_at < settled]
        used = await indexed_keys(db, keys)
        yield [key for key in keys if key not in used]
    async for lot in _lots(blobs.list_keys(CARDS)):
        cards = {
            id: blob.key for blob in lot if blob.modified_at < settled and (id := parse_card_key(blob.key)) is not None
        }
        feeds = await feed_ids_in_use(db, list(cards))
        yield [key for id, key in cards.items() if id not in feeds]


def _ended(key: str, before: datetime) -> bool:
    backup = parse_backup_key(key)
    return backup is not None and backup.at < before


async def _lots(blobs: AsyncIterable[Blob]) -> AsyncIterator[list[Blob]]:
    lot: list[Blob] = []
    async for blob in blobs:
        lot.append(blob)
        if len(lot) == LOT:
            yield lot
            lot = []
    yield lot
