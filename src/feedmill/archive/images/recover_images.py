"""Finds images that are already in the object store, for a new database."""

from datetime import datetime
from hashlib import sha256

from feedmill.archive.blobs import Blobs
from feedmill.archive.images.file_types import detect_image_type
from feedmill.archive.object_keys import IMAGES_PREFIX, full_image_key, guid_digest, image_key, parse_image_key
from feedmill.errors import BlobMissing, ConstraintViolated
from feedmill.store.archive.recover_images import UnfetchedImage, record_image_found, unfetched_images
from feedmill.store.database import Database
from feedmill.store.feeds.read_feeds import all_feeds


async def recover_stored_images(db: Database, blobs: Blobs, now: datetime) -> int:
    """Records the objects that already exist under the keys of waiting images; returns how many."""
    return sum([await _recover_feed(db, blobs, feed.id, now) for feed in await all_feeds(db)])


async def _recover_feed(db: Database, blobs: Blobs, feed_id: int, now: datetime) -> int:
    keys: dict[tuple[str, int], list[str]] = {}
    async for blob in blobs.list_keys(f"{IMAGES_PREFIX}{feed_id}/"):
        if (parsed_key := parse_image_key(blob.key)) is not None:
            keys.setdefault((parsed_key.mark, parsed_key.index), []).append(blob.key)
    tasks = await unfetched_images(db, feed_id) if keys else []
    recovered = 0
    for task in tasks:
        for key in keys.get((guid_digest(task.guid), task.position), []):
            if await _recover(db, blobs, task, key, now):
                recovered += 1
                break
    return recovered


async def _recover(db: Database, blobs: Blobs, task: UnfetchedImage, key: str, now: datetime) -> bool:
    """Records the object if it is the task's image; whether it was recorded."""
    try:
        body = await blobs.get(key)
    except BlobMissing:
        return False
    type = detect_image_type(body)
    if type is None or key not in _keys_of(task, type.extension):
        return False
    try:
        return await record_image_found(db, task.id, key, type, len(body), sha256(body).hexdigest(), now)
    except ConstraintViolated:
        return False  # two guids share the short key, and the other entry has it


def _keys_of(task: UnfetchedImage, extension: str) -> tuple[str, str]:
    key_parts = (task.feed_id, task.guid, task.position, extension)
    return full_image_key(*key_parts), image_key(*key_parts)
