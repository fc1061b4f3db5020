"""Deletes old lines of the fetch log, finished batches and retired unread lists."""

from datetime import datetime
from typing import Any

from sqlalchemy import Delete, Select, bindparam, exists, func, select

from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, one_of
from feedmill.store.schema import batches, fetch_log, unread, unread_lists, users

LOT = 1000

_old_line = fetch_log.c.at < bindparam("before")
_old_batch = batches.c.finished_at < bindparam("before")
OLD_LINES = select(fetch_log.c.id).where(_old_line).order_by(fetch_log.c.at).limit(LOT)
DROP_LINES = fetch_log.delete().where(one_of(fetch_log.c.id, "ids"))
COUNT_LINES = select(func.count().label("found")).where(_old_line)
OLD_BATCHES = select(batches.c.id).where(_old_batch).order_by(batches.c.id).limit(LOT)
DROP_BATCHES = batches.delete().where(one_of(batches.c.id, "ids"))
COUNT_BATCHES = select(func.count().label("found")).where(_old_batch)

_is_retired = (
    unread_lists.c.retired_at < bindparam("before"),
    ~exists().where(users.c.unread_list_id == unread_lists.c.id),
)
RETIRED_LISTS = select(unread_lists.c.id).where(*_is_retired).order_by(unread_lists.c.id)
COUNT_LISTS = select(func.count().label("found")).where(*_is_retired)
# The end of the next lot of a list, along its primary key.
LOT_END = (
    select(unread.c.sort_at, unread.c.entry_id)
    .where(unread.c.list_id == bindparam("list_id"))
    .order_by(unread.c.sort_at, unread.c.entry_id)
    .offset(bindparam("skipped"))
    .limit(1)
)
# Each time anew: a person may take mark-all-read back while we are at it.
_still_retired = unread.c.list_id.in_(
    select(unread_lists.c.id).where(unread_lists.c.id == bindparam("list_id"), *_is_retired)
)
EMPTY_LOT = unread.delete().where(
    unread.c.list_id == bindparam("list_id"), unread.c.sort_at <= bindparam("sort_at"), _still_retired
)
EMPTY_REST = unread.delete().where(unread.c.list_id == bindparam("list_id"), _still_retired)
DROP_LIST = unread_lists.delete().where(unread_lists.c.id == bindparam("list_id"), *_is_retired)


async def count_old_log_lines(db: Database, before: datetime) -> int:
    return await _count(db, COUNT_LINES, before)


async def count_old_batches(db: Database, before: datetime) -> int:
    return await _count(db, COUNT_BATCHES, before)


async def count_retired_lists(db: Database, before: datetime) -> int:
    return await _count(db, COUNT_LISTS, before)


async def drop_old_log_lines(db: Database, before: datetime) -> int:
    """Drops the lines of the fetch log from before `before`."""
    return await _drop_lots(db, OLD_LINES, DROP_LINES, before)


async def drop_old_batches(db: Database, before: datetime) -> int:
    """Drops the batches that ended before `before`, with their jobs."""
    return await _drop_lots(db, OLD_BATCHES, DROP_BATCHES, before)


async def drop_retired_lists(db: Database, before: datetime) -> int:
    """Empties and drops the unread lists that nobody has pointed to since `before`."""
    left = await db.query(RETIRED_LISTS, {"before": to_iso(before)})
    for row in left:
        await _empty(db, {"list_id": row["id"], "before": to_iso(before)})
    return len(left)


async def _empty(db: Database, params: dict[str, object]) -> None:
    while end := await db.query(LOT_END, params | {"skipped": LOT}):
        [gone] = await db.batch([Step(EMPTY_LOT, params | {"sort_at": end[0]["sort_at"]})])
        if not gone:
            return  # somebody points to it again
    await db.batch([Step(EMPTY_REST, params), Step(DROP_LIST, params)])


async def _drop_lots(db: Database, some: Select[Any], drop: Delete, before: datetime) -> int:
    dropped = 0
    while found := await db.query(some, {"before": to_iso(before)}):
        await db.batch([Step(drop, {"ids": as_list([row["id"] for row in found])})])
        dropped += len(found)
    return dropped


async def _count(db: Database, count: Select[Any], before: datetime) -> int:
    [row] = await db.query(count, {"before": to_iso(before)})
    return int(row["found"])
