"""Finds the archived images of entries, decides who may see one, and has images archived."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import quote

from feedmill.archive.blobs import Blobs
from feedmill.archive.images.file_types import TYPE_BY_EXTENSION
from feedmill.archive.keys import parse_image_key
from feedmill.collect.entries.changes import MAX_IMAGES
from feedmill.html.images import find_image_urls
from feedmill.library.archive.raw_bodies import MAX_ID
from feedmill.library.subscriptions.lookup import find_subscription
from feedmill.model.feed import is_readable_by
from feedmill.model.image import ImageStatus
from feedmill.model.subscription import Subscription
from feedmill.store.archive.feed_images import (
    FeedImageTask,
    ImageTotals,
    entries_without_images,
    image_totals,
    images_before,
    make_waiting_images_due,
    requeue_failed_images,
    steps_to_retry_images,
)
from feedmill.store.archive.image_tasks import archived_image_keys, image_of_key, steps_to_add_image_tasks
from feedmill.store.database import Database, Step
from feedmill.store.entries.read_entries import read_entry
from feedmill.store.entries.visible_entries import visible_entries

# A page may stay open for as long before its images must be loaded.
LINK_LIFE = timedelta(days=1)
MAX_KEY_LENGTH = 200


@dataclass(frozen=True, slots=True)
class ArchivedImage:
    """An image in the object store. Its type comes from our table by the key's extension."""

    key: str
    content_type: str
    size: int
    sha256: str


async def find_archived_image(db: Database, user_id: int, key: str) -> ArchivedImage | None:
    """The archived image under the key; None if there is none, or if its feed is another user's private one."""
    parsed = parse_image_key(key) if len(key) <= MAX_KEY_LENGTH else None
    type = TYPE_BY_EXTENSION.get(parsed.extension) if parsed else None
    stored = await image_of_key(db, key) if type else None
    if type is None or stored is None or not is_readable_by(stored.feed_url, user_id):
        return None
    return ArchivedImage(key, type.content_type, stored.size, stored.sha256)


async def image_urls(db: Database, blobs: Blobs, entry_ids: Sequence[int], site: str = "") -> dict[int, dict[str, str]]:
    """For each entry, where its archived images can be loaded from, by their original addresses.

    That is the store itself when browsers may ask it, else our own route; `site` goes before its path.
    """
    kept = await archived_image_keys(db, entry_ids)
    return {id: {url: await image_url(blobs, key, site) for url, key in keys.items()} for id, keys in kept.items()}


async def image_task_steps(db: Database, entry_id: int, now: datetime) -> list[Step]:
    """The steps that have an entry's images archived: for the batch that stars it, where the feed wants that."""
    entry = await read_entry(db, entry_id)
    if entry is None:
        return []
    addresses = find_image_urls(entry.content_html or "", entry.base_url, MAX_IMAGES)
    return steps_to_add_image_tasks(entry.feed_id, entry_id, addresses, now)


async def archive_images_now(db: Database, user_id: int, ids: Sequence[int], now: datetime) -> int:
    """Has the images of those of these entries that the user may see archived as soon as may be; of how many.

    Whatever the feeds' policy is: somebody asked for these.
    """
    visible = sorted(await visible_entries(db, user_id, ids))
    if visible:
        wanted = [step for id in visible for step in await image_task_steps(db, id, now)]
        await db.batch([*wanted, *steps_to_retry_images(visible, now)])
    return len(visible)


async def image_url(blobs: Blobs, key: str, site: str = "") -> str:
    """Where the archived image under the key can be loaded from."""
    return await blobs.url(key, LINK_LIFE) or f"{site}/{quote(key)}"


# Of the newest entries; asking again goes on with the others.
ENTRIES_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class FeedImage:
    """`url` is where an archived one can be loaded from; None for one that is not."""

    id: int
    entry_id: int
    entry_title: str
    original_url: str
    url: str | None
    size: int
    attempts: int
    last_error: str | None
    next_attempt_at: str | None


async def total_images(db: Database, of: Subscription) -> dict[str, ImageTotals]:
    """How many images of the feed have each status, and how many bytes they take."""
    return await image_totals(db, of.feed_id)


async def list_images(
    db: Database, blobs: Blobs, of: Subscription, status: ImageStatus, before: int | None, most: int
) -> tuple[list[FeedImage], int | None]:
    """Images in that state, the newest first, and the number before which there are more."""
    tasks = await images_before(db, of.feed_id, status, before or MAX_ID, most + 1)
    images = [await _feed_image(blobs, task, status is ImageStatus.SUCCESS) for task in tasks[:most]]
    return images, images[-1].id if len(tasks) > most else None


async def _feed_image(blobs: Blobs, task: FeedImageTask, is_archived: bool) -> FeedImage:
    return FeedImage(
        id=task.id,
        entry_id=task.entry_id,
        entry_title=task.entry_title or "",
        original_url=task.original_url,
        url=await image_url(blobs, task.object_key) if is_archived and task.object_key else None,
        size=task.size,
        attempts=task.attempts,
        last_error=task.last_error,
        next_attempt_at=task.next_attempt_at,
    )


async def retry_failed_images(db: Database, user_id: int, subscription_id: int, now: datetime) -> int:
    """Has the failed images of a feed of the user's tried anew; how many."""
    return await requeue_failed_images(db, (await find_subscription(db, user_id, subscription_id)).feed_id, now)


async def fetch_missing_images(db: Database, user_id: int, subscription_id: int, now: datetime) -> int:
    """Has those images fetched now that wait for later, or that nobody asked for so far; how many."""
    feed_id = (await find_subscription(db, user_id, subscription_id)).feed_id
    unasked = await entries_without_images(db, feed_id, ENTRIES_AT_ONCE)
    steps = [step for entry_id in unasked for step in await image_task_steps(db, entry_id, now)]
    await db.batch(steps)
    return await make_waiting_images_due(db, feed_id, now) + sum(len(step.params) for step in steps)
