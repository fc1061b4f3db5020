"""How many things of a kind a person has."""

from sqlalchemy import bindparam, func, select

from feedmill.store.database import Database
from feedmill.store.schema import bookmarks, folders, labels, saved_searches, webhooks

_COUNTS = {
    table.name: select(func.count().label("n")).where(table.c.user_id == bindparam("of_user"))
    for table in (bookmarks, folders, labels, saved_searches, webhooks)
}


async def count_own(db: Database, user_id: int, table: str) -> int:
    [row] = await db.query(_COUNTS[table], {"of_user": user_id})
    return int(row["n"])
