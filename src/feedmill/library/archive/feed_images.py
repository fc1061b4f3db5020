"""Lists the images of a feed and their totals, for the archive pages."""

from dataclasses import dataclass

from feedmill.archive.blobs import Blobs
from feedmill.i18n.messages import Message
from feedmill.library.archive.archived_images import image_url
from feedmill.model.image import ImageStatus
from feedmill.model.max_id import MAX_ID
from feedmill.model.subscription import Subscription
from feedmill.store.archive.feed_images import (
    FeedImageTask,
    ImageTotals,
    image_totals,
    images_before,
)
from feedmill.store.database import Database


@dataclass(frozen=True, slots=True)
class FeedImage:
    """An image of a feed; `url` loads it, and is None if it is not archived."""

    id: int
    entry_id: int
    entry_title: str
    original_url: str
    url: str | None
    size: int
    attempts: int
    last_error: Message | None
    next_attempt_at: str | None


async def total_images(db: Database, of: Subscription) -> dict[str, ImageTotals]:
    """How many images of the feed have each status, and how many bytes they take."""
    return await image_totals(db, of.feed_id)


async def list_images(
    db: Database, blobs: Blobs, of: Subscription, status: ImageStatus, before: int | None, most: int
) -> tuple[list[FeedImage], int | None]:
    """Images with that status, the newest first, and the id before which there are more."""
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
