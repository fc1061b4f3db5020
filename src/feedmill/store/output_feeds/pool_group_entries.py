"""Finds the entries of a pool group, the latest first, whether they were handed out or not."""

from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, select, union

from feedmill.model.pool import PoolKind
from feedmill.store.database import Database
from feedmill.store.literal_limits import literal_number, round_limit_up
from feedmill.store.schema import pool_items

_of = pool_items.c


def _newest(kind: PoolKind, size: int) -> Select[Any]:
    """The latest entries of one pool, along the index of its entries."""
    found = (
        select(_of.entry_id)
        .where(_of.group_id == bindparam("group_id"), _of.kind == kind.value, _of.entry_id < bindparam("before_id"))
        .order_by(_of.entry_id.desc())
        .limit(literal_number(size))
    )
    # MySQL and SQLite take no ORDER BY in a part of a union.
    return select(found.subquery(f"of_{kind}").c.entry_id)


@cache
def _page(size: int) -> Select[Any]:
    both = union(*(_newest(kind, size) for kind in PoolKind)).subquery("both")
    return select(both.c.entry_id).order_by(both.c.entry_id.desc()).limit(literal_number(size))


async def newest_pool_group_entries(db: Database, group_id: int, before_id: int, most: int) -> list[int]:
    """Up to `most` ids of entries below `before_id`."""
    rows = await db.query(_page(round_limit_up(most)), {"group_id": group_id, "before_id": before_id})
    return [row["entry_id"] for row in rows[:most]]
