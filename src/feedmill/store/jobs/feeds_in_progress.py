"""The feeds of a batch that are being fetched now, by the titles of the watching user."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, func, select

from feedmill.model.feed import without_owner
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database
from feedmill.store.dialect import as_list, one_of
from feedmill.store.schema import batch_jobs, feeds, subscriptions

# A few, to show on a page.
MAX_FEEDS = 5

_title = func.coalesce(subscriptions.c.title, feeds.c.own_title, feeds.c.title, feeds.c.url)
_jobs = (
    select(subscriptions.c.id.label("subscription_id"), _title.label("title"))
    .select_from(
        batch_jobs.join(feeds, feeds.c.id == batch_jobs.c.feed_id).join(
            subscriptions, subscriptions.c.feed_id == feeds.c.id
        )
    )
    .where(
        batch_jobs.c.batch_id == bindparam("batch_id"),
        batch_jobs.c.finished_at.is_(None),
        subscriptions.c.user_id == bindparam("user_id"),
    )
    .limit(MAX_FEEDS)
)
RUNNING = _jobs.where(one_of(feeds.c.id, "running")).order_by(feeds.c.id)
CLAIMED_LAST = _jobs.where(feeds.c.claimed_until > bindparam("now")).order_by(feeds.c.claimed_until.desc(), feeds.c.id)


@dataclass(frozen=True, slots=True)
class FeedInProgress:
    """A feed that is being fetched, as the watching user subscribed to it."""

    subscription_id: int
    title: str


async def feeds_in_progress(
    db: Database, batch_id: int, user_id: int, running: Sequence[int], now: datetime
) -> list[FeedInProgress]:
    """Those in `running`, or those that other processes claimed last if none is named."""
    values = {"batch_id": batch_id, "user_id": user_id, "running": as_list(list(running)), "now": to_iso(now)}
    rows = await db.query(RUNNING if running else CLAIMED_LAST, values)
    return [FeedInProgress(row["subscription_id"], without_owner(row["title"])) for row in rows]
