"""The image tasks of one entry, by the URL of the image: for readers who look at it now."""

from datetime import datetime

from msgspec import Struct
from sqlalchemy import bindparam, func, select

from feedmill.i18n.messages import Message, message_from_stored, message_or_none
from feedmill.model.image import ImageStatus
from feedmill.model.timestamps import to_iso
from feedmill.store.archive.image_tasks import ADD
from feedmill.store.database import Database, Step
from feedmill.store.schema import image_tasks

# Images that are not in the feed's own text, such as those of the full article, have positions from here on.
FIRST_EXTRA_POSITION = 1000
MAX_EXTRA_IMAGES = 200
# Reasons of ours to wait, which say nothing about the image.
PASSING_REASONS = frozenset({"image.no_room", "image.no_turn"})

_of_entry = image_tasks.c.entry_id == bindparam("entry_id")
OF_ENTRY = select(
    image_tasks.c.id,
    image_tasks.c.original_url,
    image_tasks.c.status,
    image_tasks.c.object_key,
    image_tasks.c.last_error,
    image_tasks.c.next_attempt_at,
    image_tasks.c.claimed_until,
).where(_of_entry)
FAILURES = select(image_tasks.c.original_url, image_tasks.c.last_error).where(
    _of_entry, image_tasks.c.status == ImageStatus.FAILED
)
LAST_POSITION = select(func.max(image_tasks.c.position).label("last")).where(_of_entry)


class EntryImageState(Struct, frozen=True):
    """The state of an image of an entry."""

    id: int
    status: str
    object_key: str | None
    last_error: Message | None
    next_attempt_at: str | None
    claimed_until: str | None

    def is_claimed(self, now: datetime) -> bool:
        return self.claimed_until is not None and self.claimed_until > to_iso(now)

    def failed_lately(self, now: datetime) -> bool:
        """Whether an attempt failed and the time of the next has not come."""
        failed = self.last_error is not None and self.last_error.code not in PASSING_REASONS
        return failed and (self.next_attempt_at or "") > to_iso(now)


async def entry_image(db: Database, entry_id: int, url: str) -> EntryImageState | None:
    """The image of the entry with that URL. URLs are compared here: the column has no index, and an entry few rows."""
    rows = await db.query(OF_ENTRY, {"entry_id": entry_id})
    row = next((row for row in rows if row["original_url"] == url), None)
    if row is None:
        return None
    return EntryImageState(
        row["id"],
        row["status"],
        row["object_key"],
        message_or_none(row["last_error"]),
        row["next_attempt_at"],
        row["claimed_until"],
    )


async def failed_images(db: Database, entry_id: int) -> dict[str, Message]:
    """By URL, why images of the entry are not fetched any more."""
    rows = await db.query(FAILURES, {"entry_id": entry_id})
    return {row["original_url"]: message_from_stored(row["last_error"] or "") for row in rows}


async def add_extra_image(db: Database, feed_id: int, entry_id: int, url: str, now: datetime) -> None:
    """Adds a task for an image that is not in the feed's own text, unless the entry has too many of them."""
    [row] = await db.query(LAST_POSITION, {"entry_id": entry_id})
    position = max(FIRST_EXTRA_POSITION, (row["last"] or 0) + 1)
    if position >= FIRST_EXTRA_POSITION + MAX_EXTRA_IMAGES:
        return
    at = to_iso(now)
    times = {"next_attempt_at": at, "created_at": at, "updated_at": at}
    task = {"feed_id": feed_id, "entry_id": entry_id, "position": position, "original_url": url}
    await db.batch([Step(ADD, [task | times])])
