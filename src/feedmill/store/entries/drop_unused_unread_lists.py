"""Deletes unread lists that nobody uses: those that mark-all-read retired, and those of users who are gone.

A list is emptied chunk by chunk. Each chunk asks anew whether the list is unused, because its user may have undone
mark-all-read meanwhile.
"""

from datetime import datetime, timedelta

from sqlalchemy import Integer, and_, bindparam, exists, func, or_, select

from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.schema import unread, unread_lists, users

# Longer than mark-all-read can be undone, so that no list is emptied while its user has it back.
RETIRED_LISTS_KEPT_FOR = timedelta(days=2)
CHUNK_SIZE = 1000

_of_list = unread.c.list_id == bindparam("list_id")
_has_user = exists().where(users.c.unread_list_id == bindparam("list_id"))
_is_kept = exists().where(
    unread_lists.c.id == bindparam("list_id"),
    or_(unread_lists.c.retired_at.is_(None), unread_lists.c.retired_at >= bindparam("before")),
)
_is_unused = and_(~_has_user, ~_is_kept)

RETIRED = select(unread_lists.c.id).where(
    unread_lists.c.retired_at < bindparam("before"), ~exists().where(users.c.unread_list_id == unread_lists.c.id)
)
# The list itself went with its user. From one list to the next along the primary key.
_lists = select(func.min(unread.c.list_id).label("id")).cte("lists", recursive=True)
_next_list = select(func.min(unread.c.list_id)).where(unread.c.list_id > _lists.c.id).scalar_subquery()
_lists = _lists.union_all(select(_next_list).where(_lists.c.id.is_not(None)))
ORPHANED = select(_lists.c.id).where(
    _lists.c.id.is_not(None),
    ~exists().where(unread_lists.c.id == _lists.c.id),
    ~exists().where(users.c.unread_list_id == _lists.c.id),
)
END_OF_CHUNK = (
    select(unread.c.sort_at)
    .where(_of_list)
    .order_by(unread.c.sort_at, unread.c.entry_id)
    .limit(1)
    .offset(bindparam("skipped", type_=Integer))
)
DROP_CHUNK = unread.delete().where(_of_list, unread.c.sort_at <= bindparam("end"), _is_unused)
DROP_REST = unread.delete().where(_of_list, _is_unused)
DROP_LIST = unread_lists.delete().where(
    unread_lists.c.id == bindparam("list_id"), unread_lists.c.retired_at < bindparam("before"), ~_has_user
)


async def count_retired_lists(db: Database, before: datetime) -> int:
    """How many lists `drop_retired_lists` would drop."""
    return len(await _unused_lists(db, before))


async def drop_retired_lists(db: Database, before: datetime, chunk_size: int = CHUNK_SIZE) -> int:
    """Drops the lists that were retired before then, and those of users who are gone; how many there were."""
    list_ids = await _unused_lists(db, before)
    for list_id in list_ids:
        await _drop(db, list_id, before, chunk_size)
    return len(list_ids)


async def _unused_lists(db: Database, before: datetime) -> list[int]:
    rows = [*await db.query(RETIRED, {"before": to_iso(before)}), *await db.query(ORPHANED)]
    return [row["id"] for row in rows]


async def _drop(db: Database, list_id: int, before: datetime, chunk_size: int) -> None:
    params = {"list_id": list_id, "before": to_iso(before)}
    while end := await db.query(END_OF_CHUNK, params | {"skipped": chunk_size - 1}):
        [dropped] = await db.batch([Step(DROP_CHUNK, params | {"end": end[0]["sort_at"]})])
        if not dropped:
            return  # it is used again
    await db.batch([Step(DROP_REST, params), Step(DROP_LIST, params)])
