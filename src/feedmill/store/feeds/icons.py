"""Icons of feeds: which are due to be fetched, and the stored images."""

from base64 import b64decode, b64encode
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple

from sqlalchemy import Integer, String, bindparam, exists, func, select

from feedmill.model.image import DownloadedImage, StoredIcon
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, insert_selected, one_of
from feedmill.store.leases import Leases
from feedmill.store.schema import feeds, icons, subscriptions

# Digits of the digest in the URL of an icon. Whole digests compress badly, and a page may have a thousand.
ICON_NAME_LENGTH = 16

_of = icons.c
ICON_NAME = func.substr(_of.sha256, 1, ICON_NAME_LENGTH)

ADD_TASKS = insert_selected(
    icons,
    select(feeds.c.id.label("a"), bindparam("now", type_=String).label("b"))
    .select_from(feeds.outerjoin(icons, _of.feed_id == feeds.c.id))
    .where(feeds.c.last_success_at.is_not(None), _of.feed_id.is_(None))
    .where(exists().where(subscriptions.c.feed_id == feeds.c.id))
    .limit(bindparam("most", type_=Integer)),
    "feed_id",
    "next_attempt_at",
)

_due = _of.next_attempt_at <= bindparam("now")
WAITING = (
    select(_of.feed_id).where(_due).order_by(_of.next_attempt_at, _of.feed_id).limit(bindparam("most", type_=Integer))
)
CLAIMED = (
    select(_of.feed_id, _of.attempts, feeds.c.icon_url, feeds.c.site_url, feeds.c.url)
    .join(feeds, feeds.c.id == _of.feed_id)
    .order_by(_of.feed_id)
)
LEASES = Leases(icons, _of.feed_id, _due, WAITING, CLAIMED)
release_icon_tasks = LEASES.release

_has_token = _of.claim_token == bindparam("token")
SAVE = (
    icons.update()
    .where(one_of(_of.feed_id, "feeds"), _has_token)
    .values(url=bindparam("icon_url"), sha256=bindparam("digest"), media_type=bindparam("type"))
    .values(data=bindparam("bytes"), fetched_at=bindparam("at"), attempts=0)
    .values(claim_token=None, next_attempt_at=bindparam("again_at"))
)
MISSING = (
    icons.update()
    .where(_of.feed_id == bindparam("feed"), _has_token)
    .values(attempts=_of.attempts + bindparam("new_attempts", type_=Integer), claim_token=None)
    .values(next_attempt_at=bindparam("again_at"))
)
VISIBLE_ICON = (
    select(_of.sha256, _of.media_type, _of.data)
    .join(subscriptions, subscriptions.c.feed_id == _of.feed_id)
    .where(subscriptions.c.user_id == bindparam("user_id"))
    .where(_of.sha256 >= bindparam("first"), _of.sha256 < bindparam("end"))
    .limit(1)
)


class IconTask(NamedTuple):
    """A feed whose icon is to be fetched, and the URLs where it may be."""

    feed_id: int
    attempts: int
    icon_url: str | None
    site_url: str | None
    url: str


class IconFailure(NamedTuple):
    """The icon could not be fetched; it is tried again at `again_at`. `counted`: this was an attempt."""

    feed_id: int
    again_at: datetime
    counted: bool = True


async def add_icon_tasks(db: Database, now: datetime, most: int) -> None:
    """Queues the icons of up to `most` feeds that have subscribers, were fetched at least once and are not queued."""
    await db.batch([Step(ADD_TASKS, {"now": to_iso(now), "most": most})])


async def take_icon_tasks(db: Database, now: datetime, most: int) -> tuple[str, list[IconTask]]:
    """Claims feeds whose icon is due; the token completes or releases them."""
    token, rows = await LEASES.take(db, now, most=most)
    return token, [IconTask(**row) for row in rows]


async def save_icon(
    db: Database,
    feed_ids: Sequence[int],
    token: str,
    url: str,
    icon: DownloadedImage,
    now: datetime,
    again_at: datetime,
) -> None:
    """Stores an image as the icon of these feeds."""
    values = {
        "feeds": as_list(list(feed_ids)),
        "token": token,
        "icon_url": url,
        "digest": sha256(icon.body).hexdigest(),
        "type": icon.type.content_type,
        "bytes": b64encode(icon.body).decode(),
        "at": to_iso(now),
        "again_at": to_iso(again_at),
    }
    await db.batch([Step(SAVE, values)])


async def record_missing_icons(db: Database, token: str, misses: Sequence[IconFailure]) -> None:
    """Postpones these feeds; icons that are stored stay."""
    rows = [
        {"feed": miss.feed_id, "token": token, "new_attempts": int(miss.counted), "again_at": to_iso(miss.again_at)}
        for miss in misses
    ]
    await db.batch([Step(MISSING, rows)])


async def find_icon(db: Database, user_id: int, digest: str) -> StoredIcon | None:
    """The icon whose digest begins with this, if a feed of the user has it."""
    # "g" comes after every digit.
    rows = await db.query(VISIBLE_ICON, {"user_id": user_id, "first": digest, "end": f"{digest}g"})
    return StoredIcon(rows[0]["sha256"], rows[0]["media_type"], b64decode(rows[0]["data"])) if rows else None
