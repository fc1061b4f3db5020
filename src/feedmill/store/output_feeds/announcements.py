"""Output feeds that a WebSub hub is to be told of: queued by refreshes, taken with a lease, settled by the holder.

A refresh inserts a row for each output feed that may have new entries, so refreshes never wait for each other.
Whoever tells the hub deletes the rows that there were when it read the feed; what comes later is told again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Integer, and_, bindparam, exists, func, or_, select
from sqlalchemy.sql.dml import Insert

from feedmill.model.encrypted import Encrypted
from feedmill.model.syndication.output_feed import OutputFeed, OutputListKind
from feedmill.model.timestamps import to_iso
from feedmill.model.user import ACTIVE, User
from feedmill.store.database import Database, Row, Step
from feedmill.store.leases import Leases
from feedmill.store.output_feeds.output_feeds import to_output_feed
from feedmill.store.schema import output_feed_changes, output_feeds, subscriptions, users
from feedmill.store.users.users import to_user

_of, _changes = output_feeds.c, output_feed_changes.c
_is_announced = and_(_of.announced_secret.is_not(None), _of.revoked_at.is_(None))
# Pool groups have entries of feeds that their readers do not subscribe to. Locked until the batch ends: deleting an
# output feed meanwhile must not undo the refresh.
QUEUE = (
    Insert(output_feed_changes)
    .from_select(
        ["output_feed_id"],
        select(_of.id)
        .where(
            _is_announced,
            or_(
                _of.list_kind == OutputListKind.POOL,
                exists().where(subscriptions.c.user_id == _of.user_id, subscriptions.c.feed_id == bindparam("of_feed")),
            ),
        )
        .with_for_update(read=True, key_share=True),
    )
    .inline()
)

_has_changes = exists().where(_changes.output_feed_id == _of.id)
_due = and_(_is_announced, _of.next_attempt_at <= bindparam("now"))
WAITING = (
    select(_of.id)
    .where(_due, _has_changes)
    .order_by(_of.next_attempt_at, _of.id)
    .limit(bindparam("most", type_=Integer))
)
_last_change = select(func.max(_changes.id)).where(_changes.output_feed_id == _of.id).scalar_subquery()
CLAIMED = (
    select(
        users,
        *(column.label(f"feed_{column.name}") for column in _of),
        _last_change.label("last_change_id"),
    )
    .select_from(output_feeds.join(users, users.c.id == _of.user_id))
    .order_by(_of.id)
)
LEASES = Leases(output_feeds, _of.id, _due, WAITING, CLAIMED)
release_announcements = LEASES.release

_claimed = (_of.id == bindparam("output_feed_id"), _of.claim_token == bindparam("token"))
_freed: dict[str, Any] = {"claim_token": None, "next_attempt_at": bindparam("again_at")}
TOLD = output_feeds.update().where(*_claimed).values(announced_digest=bindparam("digest"), attempts=0, **_freed)
POSTPONED = output_feeds.update().where(*_claimed).values(**_freed)
FAILED = output_feeds.update().where(*_claimed).values(attempts=_of.attempts + 1, **_freed)
# Before the claim is given back: only its holder deletes.
DROP_CHANGES = output_feed_changes.delete().where(
    _changes.output_feed_id == bindparam("output_feed_id"),
    _changes.id <= bindparam("last_change_id"),
    exists().where(*_claimed),
)


@dataclass(frozen=True, slots=True)
class Announcement:
    """An output feed with changes, as its owner reads it. `announced_digest` is that of what the hub knows."""

    user: User
    feed: OutputFeed
    secret: Encrypted
    announced_digest: str | None
    attempts: int
    last_change_id: int
    token: str

    @property
    def is_of_active_user(self) -> bool:
        return self.user.status == ACTIVE


def step_to_queue_announcements(feed_id: int) -> Step:
    """The step that queues the announced output feeds that may list new entries of the feed."""
    return Step(QUEUE, {"of_feed": feed_id})


async def take_announcements(db: Database, now: datetime, most: int) -> tuple[str, list[Announcement]]:
    """Claims output feeds with changes; nobody else gets them until the lease ends."""
    token, rows = await LEASES.take(db, now, most=most)
    return token, [_announcement(row, token) for row in rows]


async def record_told(db: Database, told: Announcement, digest: str | None, now: datetime) -> None:
    """Records that the hub knows of the changes; `digest` is what the feed was like."""
    await db.batch(_ending(told, TOLD, {"digest": digest, "again_at": to_iso(now)}))


async def postpone_announcement(db: Database, postponed: Announcement, until: datetime) -> None:
    """Keeps the changes until then; this counts as no attempt."""
    await db.batch(_ending(postponed, POSTPONED, {"again_at": to_iso(until)})[1:])


async def record_untold(db: Database, failed: Announcement, again_at: datetime, *, gives_up: bool) -> None:
    """Records that the hub could not be told; its changes are tried again at that time, unless it gives up."""
    values = {"again_at": to_iso(again_at), "digest": failed.announced_digest}
    steps = _ending(failed, TOLD if gives_up else FAILED, values)
    await db.batch(steps if gives_up else steps[1:])


def _ending(ended: Announcement, settle: Any, values: dict[str, Any]) -> Sequence[Step]:
    row = {"output_feed_id": ended.feed.id, "token": ended.token, "last_change_id": ended.last_change_id} | values
    return [Step(DROP_CHANGES, row), Step(settle, row)]


def _announcement(row: Row, token: str) -> Announcement:
    return Announcement(
        user=to_user(row),
        feed=to_output_feed(row),
        secret=Encrypted(row["feed_announced_secret"]),
        announced_digest=row["feed_announced_digest"],
        attempts=row["feed_attempts"],
        last_change_id=row["last_change_id"] or 0,
        token=token,
    )
