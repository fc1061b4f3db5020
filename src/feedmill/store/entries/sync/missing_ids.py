"""Finds ids that may still be stored although larger ones are.

An id is assigned when a row is inserted, and seen when its transaction is committed. So with several workers an entry
can appear below one that a program has got already. Its id is missing until then.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import bindparam, func, select

from feedmill.store.columns import Id
from feedmill.store.database import Database
from feedmill.store.entries.sync.sync_ids import LAST, OVERLAP, last_id_before
from feedmill.store.literal_limits import literal_number
from feedmill.store.schema import entries

# As many as fit into the cursor of a program.
MOST_RANGES = 300

IdRange = tuple[int, int]
"""The first and the last id."""

# Not with a default of LAG, which MariaDB does not have.
_previous = func.coalesce(func.lag(entries.c.id).over(order_by=entries.c.id), bindparam("after_id", type_=Id))
_stored = (
    select(entries.c.id, _previous.label("previous"))
    .where(entries.c.id > bindparam("after_id", type_=Id), entries.c.id <= bindparam("up_to"))
    .subquery("stored")
)
# One more than can be kept, to know where the others begin.
MISSING = (
    select(_stored.c.previous, _stored.c.id)
    .where(_stored.c.id > _stored.c.previous + 1)
    .order_by(_stored.c.id)
    .limit(literal_number(MOST_RANGES + 1))
)


async def newest_entry_id(db: Database) -> int:
    """The largest id of an entry; 0 if there are none."""
    [row] = await db.query(LAST)
    return int(row["id"])


async def settled_id(db: Database, now: datetime) -> int:
    """The id up to which every entry is stored that will ever be: a refresh is recorded within `OVERLAP`."""
    return await last_id_before(db, now - OVERLAP)


async def missing_ids(db: Database, after_id: int, up_to: int) -> list[IdRange]:
    """The first ranges of ids between the two that no entry has."""
    rows = await db.query(MISSING, {"after_id": after_id, "up_to": up_to})
    return [(row["previous"] + 1, row["id"] - 1) for row in rows]


def to_ranges(ids: Iterable[int]) -> tuple[IdRange, ...]:
    """Ids as ranges, ascending."""
    found: list[IdRange] = []
    for id in sorted(set(ids)):
        if found and found[-1][1] == id - 1:
            found[-1] = (found[-1][0], id)
        else:
            found.append((id, id))
    return tuple(found)


def ids_in(ranges: Sequence[IdRange]) -> list[int]:
    return [id for first, last in ranges for id in range(first, last + 1)]
