"""Requests images to be archived: those of an entry, failed ones again, missing ones."""

from collections.abc import Sequence
from datetime import datetime

from feedmill.collect.entries.changes import MAX_IMAGES
from feedmill.html.images import find_image_urls
from feedmill.library.subscriptions.lookup import find_subscription
from feedmill.store.archive.feed_images import (
    entries_without_images,
    make_waiting_images_due,
    requeue_failed_images,
    steps_to_retry_images,
)
from feedmill.store.archive.image_tasks import EntryImages, steps_to_add_image_tasks
from feedmill.store.database import Database, Step
from feedmill.store.entries.read_entries import read_entries
from feedmill.store.entries.visible_entries import visible_entries

# Of the newest entries without tasks; the next request continues with the others.
ENTRIES_AT_ONCE = 200


async def image_task_steps(db: Database, entry_ids: Sequence[int], now: datetime) -> list[Step]:
    """The steps that add image tasks for entries, for the batch that stars them."""
    wanted = [
        EntryImages(entry.feed_id, entry.id, find_image_urls(entry.content_html or "", entry.base_url, MAX_IMAGES))
        for entry in await read_entries(db, entry_ids)
    ]
    return steps_to_add_image_tasks(wanted, now)


async def archive_images_now(db: Database, user_id: int, ids: Sequence[int], now: datetime) -> int:
    """Queues the images of those of these entries that the user may see; of how many entries.

    Whatever the feeds' policy is: somebody asked for these.
    """
    visible = sorted(await visible_entries(db, user_id, ids))
    if visible:
        wanted = await image_task_steps(db, visible, now)
        await db.batch([*wanted, *steps_to_retry_images(visible, now)])
    return len(visible)


async def retry_failed_images(db: Database, user_id: int, subscription_id: int, now: datetime) -> int:
    """Queues the failed images of a feed of the user's again; how many."""
    return await requeue_failed_images(db, (await find_subscription(db, user_id, subscription_id)).feed_id, now)


async def fetch_missing_images(db: Database, user_id: int, subscription_id: int, now: datetime) -> int:
    """Makes waiting images of a feed due now, and adds tasks for entries without any; how many."""
    feed_id = (await find_subscription(db, user_id, subscription_id)).feed_id
    unasked = await entries_without_images(db, feed_id, ENTRIES_AT_ONCE)
    steps = await image_task_steps(db, unasked, now)
    await db.batch(steps)
    return await make_waiting_images_due(db, feed_id, now) + sum(len(step.params) for step in steps)
