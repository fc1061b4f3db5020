"""Image tasks: taken with a lease, their object key reserved, their result recorded.

The key of an object is reserved in the task's row before the object is written. The unique index lets no two images
have the same key, and after a crash the row still tells which object may exist.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Integer, and_, bindparam, exists, func, or_, select

from feedmill.i18n.messages import message_to_stored
from feedmill.model.image import ImageDownloadFailed, ImageStatus, ImageTask, ImageType
from feedmill.model.timestamps import iso_or_none, to_iso
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import InsertNew, as_list, insert_new, one_of
from feedmill.store.feeds.read_feeds import encrypted_or_none
from feedmill.store.leases import take_with_token
from feedmill.store.schema import entries, feeds, image_tasks, object_garbage

LEASE = timedelta(seconds=180)

_free = or_(image_tasks.c.claim_token.is_(None), image_tasks.c.claimed_until <= bindparam("now"))
_waiting = and_(image_tasks.c.status == ImageStatus.PENDING, image_tasks.c.next_attempt_at <= bindparam("now"), _free)
WAITING = (
    select(image_tasks.c.id, image_tasks.c.original_url)
    .where(_waiting)
    .order_by(image_tasks.c.next_attempt_at, image_tasks.c.id)
    .limit(bindparam("most", type_=Integer))
)
TAKE = (
    image_tasks.update()
    .where(one_of(image_tasks.c.id, "ids"), _waiting)
    .values(claim_token=bindparam("token"), claimed_until=bindparam("until"))
)
# For somebody who looks at the image: also before the time of its next attempt.
TAKE_NOW = (
    image_tasks.update()
    .where(one_of(image_tasks.c.id, "ids"), image_tasks.c.status == ImageStatus.PENDING, _free)
    .values(claim_token=bindparam("token"), claimed_until=bindparam("until"))
)
POSTPONE = image_tasks.update().where(one_of(image_tasks.c.id, "ids"), _waiting).values(next_attempt_at=bindparam("at"))
_source_columns = (entries.c.guid, entries.c.link, feeds.c.url.label("feed_url"), feeds.c.http_options)
CLAIMED = (
    select(
        image_tasks.c.id,
        image_tasks.c.feed_id,
        image_tasks.c.position,
        image_tasks.c.original_url,
        image_tasks.c.attempts,
        image_tasks.c.object_key,
        *_source_columns,
    )
    .join(entries, entries.c.id == image_tasks.c.entry_id)
    .join(feeds, feeds.c.id == image_tasks.c.feed_id)
    .where(image_tasks.c.claim_token == bindparam("token"))
    .order_by(image_tasks.c.next_attempt_at, image_tasks.c.id)
)
RELEASE = (
    image_tasks.update()
    .where(image_tasks.c.claim_token == bindparam("token"))
    .values(claim_token=None, claimed_until=None)
)

_claimed = and_(image_tasks.c.id == bindparam("task_id"), image_tasks.c.claim_token == bindparam("token"))
# A key whose object is about to be deleted must not be reserved.
IS_NOT_GARBAGE = ~exists(select(object_garbage.c.id).where(object_garbage.c.key == bindparam("key")))
# An earlier attempt may have stored an image of another type under another key.
DROP_OTHER_KEY = InsertNew(object_garbage).from_select(
    ["key", "recorded_at"],
    select(image_tasks.c.object_key, bindparam("now")).where(
        _claimed, image_tasks.c.object_key.is_not(None), image_tasks.c.object_key != bindparam("key"), IS_NOT_GARBAGE
    ),
)
RESERVE = image_tasks.update().where(_claimed, IS_NOT_GARBAGE).values(object_key=bindparam("key"))
RELEASED: dict[str, Any] = {"claim_token": None, "claimed_until": None, "updated_at": bindparam("now")}
STORED = (
    image_tasks.update()
    .where(_claimed)
    .values(status=ImageStatus.SUCCESS, attempts=image_tasks.c.attempts + 1, next_attempt_at=None, last_error=None)
    .values(content_type=bindparam("content_type"), size=bindparam("size"), sha256=bindparam("sha256"), **RELEASED)
)
FAILED = (
    image_tasks.update()
    .where(_claimed)
    .values(status=bindparam("new_status"), attempts=image_tasks.c.attempts + bindparam("counted", type_=Integer))
    .values(next_attempt_at=bindparam("at"), last_error=bindparam("reason"), **RELEASED)
)
_users = select(func.count().label("n")).where(image_tasks.c.object_key == bindparam("key")).subquery("users")
GARBAGE_IF_UNUSED = InsertNew(object_garbage).from_select(
    ["key", "recorded_at"], select(bindparam("key"), bindparam("now")).select_from(_users).where(_users.c.n == 0)
)
ADD = insert_new(
    image_tasks, "feed_id", "entry_id", "position", "original_url", "next_attempt_at", "created_at", "updated_at"
)
UNRECORDED = (
    select(entries.c.feed_id, *_source_columns)
    .join(feeds, feeds.c.id == entries.c.feed_id)
    .where(entries.c.id == bindparam("entry_id"))
)


class WaitingImage(NamedTuple):
    """An image that may be fetched now."""

    id: int
    url: str


# --- claiming -----------------------------------------------------------------------------------------------


async def waiting_images(db: Database, now: datetime, most: int) -> list[WaitingImage]:
    """The images that are due and not claimed, the longest-waiting first."""
    rows = await db.query(WAITING, {"now": to_iso(now), "most": most})
    return [WaitingImage(row["id"], row["original_url"]) for row in rows]


async def take_image_tasks(
    db: Database, ids: Sequence[int], now: datetime, lease: timedelta = LEASE
) -> list[ImageTask]:
    """Claims those of these tasks that are still due and not claimed."""
    token, rows = await take_with_token(db, TAKE, CLAIMED, RELEASE, ids, now, lease)
    return [_task(row, token) for row in rows]


async def take_image_task_now(db: Database, task_id: int, now: datetime) -> ImageTask | None:
    """Claims a pending task before its time; None if another process has it or it is no longer pending."""
    token, rows = await take_with_token(db, TAKE_NOW, CLAIMED, RELEASE, [task_id], now, LEASE)
    return _task(rows[0], token) if rows else None


async def postpone_images(db: Database, later: Mapping[datetime, Sequence[int]], now: datetime) -> None:
    """Postpones tasks of a crowded host, so that others come first."""
    at = to_iso(now)
    moments = [{"ids": as_list(list(ids)), "now": at, "at": to_iso(then)} for then, ids in later.items()]
    await db.batch([Step(POSTPONE, moment) for moment in moments])


async def release_image_tasks(db: Database, token: str) -> None:
    """Releases the tasks that are still claimed with this token."""
    await db.batch([Step(RELEASE, {"token": token})])


# --- results ---------------------------------------------------------------------------------------------


async def reserve_key(db: Database, task: ImageTask, key: str, now: datetime) -> bool:
    """Reserves the object key for the task; raises `ConstraintViolated` if another image has it.

    False when an object with that key is still to be deleted, or when the claim is lost.
    """
    values = {"task_id": task.id, "token": task.token, "key": key, "now": to_iso(now)}
    _, reserved = await db.batch([Step(DROP_OTHER_KEY, values), Step(RESERVE, values)])
    return reserved == 1


async def record_image_stored(
    db: Database, task: ImageTask, type: ImageType, size: int, sha256: str, now: datetime
) -> bool:
    """Records that the object is stored under the reserved key; False when the claim is lost."""
    values = {
        "task_id": task.id,
        "token": task.token,
        "now": to_iso(now),
        "content_type": type.content_type,
        "size": size,
        "sha256": sha256,
    }
    return await db.batch([Step(STORED, values)]) == [1]


async def record_image_failed(db: Database, task: ImageTask, missed: ImageDownloadFailed, now: datetime) -> None:
    """Records a failed attempt: the task waits for the next one, or has failed."""
    values = {
        "task_id": task.id,
        "token": task.token,
        "now": to_iso(now),
        "reason": message_to_stored(missed.reason),
        "new_status": ImageStatus.FAILED if missed.again_at is None else ImageStatus.PENDING,
        "counted": int(missed.counted),
        "at": iso_or_none(missed.again_at),
    }
    await db.batch([Step(FAILED, values)])


async def record_garbage_if_unused(db: Database, key: str, now: datetime) -> None:
    """Records the object as garbage if its entry was deleted while it was written."""
    await db.batch([Step(GARBAGE_IF_UNUSED, {"key": key, "now": to_iso(now)})])


# --- adding and reading -----------------------------------------------------------------------------------


class EntryImages(NamedTuple):
    """The images of an entry, in their order."""

    feed_id: int
    entry_id: int
    addresses: Sequence[str]


def steps_to_add_image_tasks(wanted: Sequence[EntryImages], now: datetime) -> list[Step]:
    """The step that adds tasks for the images of entries; existing ones stay unchanged."""
    at = to_iso(now)
    same = {"next_attempt_at": at, "created_at": at, "updated_at": at}
    rows = [
        same | {"feed_id": each.feed_id, "entry_id": each.entry_id, "position": position, "original_url": url}
        for each in wanted
        for position, url in enumerate(each.addresses)
    ]
    return [Step(ADD, rows)] if rows else []


async def unrecorded_image_task(db: Database, entry_id: int, url: str) -> ImageTask | None:
    """A task for an image of the entry that has no row, to fetch it without archiving; None if the entry is gone."""
    rows = await db.query(UNRECORDED, {"entry_id": entry_id})
    absent = {"id": 0, "position": 0, "attempts": 0, "object_key": None, "original_url": url}
    return _task({**rows[0], **absent}, token="") if rows else None


def _task(row: Row, token: str) -> ImageTask:
    names = ("id", "feed_id", "guid", "position", "attempts", "object_key", "link", "feed_url")
    same = {name: row[name] for name in names}
    options = encrypted_or_none(row["http_options"])
    return ImageTask(token=token, url=row["original_url"], http_options=options, **same)
