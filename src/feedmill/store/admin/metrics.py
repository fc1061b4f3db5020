"""Counts for monitoring, cheap enough to be scraped."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import bindparam, func, select

from feedmill.model.pool import PoolItemState
from feedmill.model.refresh import FETCH_OUTCOMES
from feedmill.model.timestamps import from_iso, to_iso
from feedmill.store.database import Database, Row
from feedmill.store.dialect import count_where
from feedmill.store.schema import feeds, fetch_log, image_tasks, pool_groups, pool_items

# A due feed that waits longer than this is late.
LATE = timedelta(minutes=5)
# Lines of the fetch log may be written out of order; after so long all of them are there.
SETTLED_AFTER = timedelta(minutes=1)
# Upper bounds of the fetch durations, in milliseconds.
BOUNDS = (50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000)

FEEDS = select(
    feeds.c.status, func.count().label("feeds"), func.coalesce(func.sum(feeds.c.entry_count), 0).label("entries")
).group_by(feeds.c.status)
DUE = select(
    func.count().label("due"),
    count_where(feeds.c.next_fetch_at <= bindparam("late")).label("late"),
    func.min(feeds.c.next_fetch_at).label("oldest"),
).where(feeds.c.next_fetch_at <= bindparam("now"))
FETCHES = (
    select(
        fetch_log.c.outcome,
        func.count().label("fetches"),
        *(func.coalesce(func.sum(fetch_log.c[name]), 0).label(name) for name in ("ms", "bytes", "new_entries")),
        *(count_where(fetch_log.c.ms <= bound).label(f"within_{bound}") for bound in BOUNDS),
    )
    .where(fetch_log.c.at > bindparam("after"), fetch_log.c.at <= bindparam("until"))
    .group_by(fetch_log.c.outcome)
)
IMAGES = select(image_tasks.c.status, func.count().label("images")).group_by(image_tasks.c.status)
_counted = (
    select(pool_items.c.group_id, pool_items.c.kind, pool_items.c.status, func.count().label("items"))
    .group_by(pool_items.c.group_id, pool_items.c.kind, pool_items.c.status)
    .subquery("counted")
)
POOLS = select(pool_groups.c.name, _counted.c.kind, _counted.c.status, _counted.c["items"]).join(
    _counted, _counted.c.group_id == pool_groups.c.id
)


@dataclass(frozen=True, slots=True)
class FeedCounts:
    """The number of feeds by status, and of all entries."""

    by_status: Mapping[str, int]
    entries: int


@dataclass(frozen=True, slots=True)
class DueCounts:
    """The number of due feeds and of late ones, and how long the first has been due."""

    feeds: int
    late: int
    oldest: timedelta


@dataclass(slots=True)
class FetchCounter:
    """A running count of the fetches of all processes.

    Every outcome begins at 0: `rate()` of Prometheus needs a sample from before the first fetch.
    """

    until: datetime
    by_outcome: dict[str, int] = field(default_factory=lambda: dict.fromkeys(FETCH_OUTCOMES, 0))
    within: list[int] = field(default_factory=lambda: [0] * len(BOUNDS))
    milliseconds: int = 0
    bytes: int = 0
    new_entries: int = 0

    def add(self, row: Row) -> None:
        self.by_outcome[row["outcome"]] = self.by_outcome.get(row["outcome"], 0) + row["fetches"]
        self.within = [so_far + int(row[f"within_{bound}"]) for so_far, bound in zip(self.within, BOUNDS, strict=True)]
        self.milliseconds += int(row["ms"])
        self.bytes += int(row["bytes"])
        self.new_entries += int(row["new_entries"])


async def count_feeds_by_status(db: Database) -> FeedCounts:
    rows = await db.query(FEEDS)
    return FeedCounts({row["status"]: row["feeds"] for row in rows}, sum(int(row["entries"]) for row in rows))


async def count_due_feeds(db: Database, now: datetime) -> DueCounts:
    [row] = await db.query(DUE, {"now": to_iso(now), "late": to_iso(now - LATE)})
    oldest = now - from_iso(row["oldest"]) if row["oldest"] else timedelta()
    return DueCounts(row["due"], int(row["late"]), max(oldest, timedelta()))


async def count_new_fetches(db: Database, fetches: FetchCounter, now: datetime) -> None:
    """Adds the fetches since the last call, except the last minute, whose lines may not be written yet."""
    until = now - SETTLED_AFTER
    if until <= fetches.until:
        return
    for row in await db.query(FETCHES, {"after": to_iso(fetches.until), "until": to_iso(until)}):
        fetches.add(row)
    fetches.until = until


async def count_images(db: Database) -> dict[str, int]:
    return {row["status"]: row["images"] for row in await db.query(IMAGES)}


async def count_pool_items(db: Database) -> dict[tuple[str, str, str], int]:
    """The number of items by group, kind and state."""
    return {
        (row["name"], row["kind"], PoolItemState(row["status"]).name.lower()): row["items"]
        for row in await db.query(POOLS)
    }
