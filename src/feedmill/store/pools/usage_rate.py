"""Counts used pool items per minute."""

from datetime import datetime

from sqlalchemy import bindparam, func, select

from feedmill.model.pool import PoolItemState, PoolKey
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database
from feedmill.store.schema import pool_items

UP_TO_MINUTES = len("2026-02-18T08:30")

_items = pool_items.c
_minute = func.substr(_items.changed_at, 1, UP_TO_MINUTES).label("minute")
_by_minute = (
    select(_minute)
    .where(
        _items.group_id == bindparam("group"),
        _items.kind == bindparam("pool_kind"),
        _items.status == PoolItemState.USED,
        _items.changed_at >= bindparam("since"),
    )
    .subquery("used")
)
USED = select(_by_minute.c.minute, func.count().label("items")).group_by(_by_minute.c.minute)


async def used_by_minute(db: Database, pool: PoolKey, since: datetime) -> dict[datetime, int]:
    """The number of items used per minute since then; minutes without any are left out."""
    rows = await db.query(USED, {**pool.values, "since": to_iso(since)})
    return {datetime.fromisoformat(f"{row['minute']}:00+00:00"): row["items"] for row in rows}
