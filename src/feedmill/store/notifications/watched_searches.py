"""Saved searches that are watched for new hits. Each check is made by one process."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Integer, bindparam, select
from sqlalchemy.sql.dml import Insert

from feedmill.model.notifications.notification_target import NotificationEvent, WatchedSearch
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import as_list
from feedmill.store.schema import notification_targets, notifications, saved_searches, watched_searches

_of = watched_searches.c
DUE = (
    select(watched_searches, notification_targets.c.user_id, saved_searches.c.query)
    .join(notification_targets, notification_targets.c.id == _of.target_id)
    .join(saved_searches, saved_searches.c.id == _of.search_id)
    .where(
        _of.checked_at <= bindparam("before"),
        notification_targets.c.paused == 0,
        notification_targets.c.events.like(f'%"{NotificationEvent.SEARCH_HITS}"%'),
    )
    .order_by(_of.checked_at)
    .limit(bindparam("most", type_=Integer))
)
_known = (_of.target_id == bindparam("target"), _of.search_id == bindparam("search"))
CHECK = (
    watched_searches.update()
    .where(*_known, _of.checked_at == bindparam("checked_before"))
    .values(checked_at=bindparam("at"))
)
_unchanged = (*_known, _of.after_entry_id == bindparam("after"))
QUEUE_HITS = (
    Insert(notifications)
    .from_select(
        ["target_id", "event", "search_id", "entry_ids", "created_at"],
        select(_of.target_id, bindparam("event"), _of.search_id, bindparam("ids"), bindparam("at")).where(*_unchanged),
    )
    .inline()
)
MOVE_ON = watched_searches.update().where(*_unchanged).values(after_entry_id=bindparam("newest"))


async def due_searches(db: Database, before: datetime, most: int) -> list[WatchedSearch]:
    """Searches that were last checked before that time, those that wait longest first."""
    return [_search(row) for row in await db.query(DUE, {"before": to_iso(before), "most": most})]


async def claim_check(db: Database, search: WatchedSearch, now: datetime) -> bool:
    """Whether this process makes the check; another one may have made it."""
    values = {"target": search.target_id, "search": search.search_id}
    return await db.batch([Step(CHECK, values | {"checked_before": search.checked_at, "at": to_iso(now)})]) == [1]


async def record_hits(db: Database, search: WatchedSearch, entry_ids: Sequence[int], now: datetime) -> None:
    """Queues new hits of a search for its target, once."""
    key = {"target": search.target_id, "search": search.search_id, "after": search.after_entry_id}
    hits = {"event": NotificationEvent.SEARCH_HITS, "ids": as_list(list(entry_ids)), "at": to_iso(now)}
    await db.batch([Step(QUEUE_HITS, key | hits), Step(MOVE_ON, key | {"newest": max(entry_ids)})])


def _search(row: Row) -> WatchedSearch:
    names = ("target_id", "search_id", "user_id", "query", "after_entry_id", "checked_at")
    return WatchedSearch(**{name: row[name] for name in names})
