"""Counts for monitoring are right, continue after a restart, and use indexes."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Select, text

from feedmill.model.pool import PoolItemState
from feedmill.model.timestamps import to_iso
from feedmill.store.admin import metrics
from feedmill.store.admin.metrics import BOUNDS, SETTLED_AFTER, DueCounts, FeedCounts, FetchCounter
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.migrations import sqlalchemy_dialect
from feedmill.store.schema import feeds, fetch_log, image_tasks, pool_items
from tests.databases import emptied
from tests.pools.pool_rows import MINUTE, NOW, SECOND, add_entries, add_pool

LINE = insert(fetch_log, "feed_id", "at", "outcome", "ms", "bytes", "new_entries")
IMAGE = insert(image_tasks, "feed_id", "entry_id", "position", "original_url", "status", "created_at", "updated_at")
RANGE = {"after": to_iso(NOW), "until": to_iso(NOW)}
# What each statement may read. There are few feeds compared with their entries.
LOOKS_AT = {
    "DUE": (metrics.DUE, {"now": to_iso(NOW), "late": to_iso(NOW)}, "SEARCH feeds USING COVERING INDEX feeds_due"),
    "FETCHES": (metrics.FETCHES, RANGE, "SEARCH fetch_log USING INDEX fetch_log_at"),
    "IMAGES": (metrics.IMAGES, {}, "SCAN image_tasks USING COVERING INDEX image_tasks_waiting"),
    "POOLS": (metrics.POOLS, {}, "SCAN pool_items USING COVERING INDEX pool_items_next"),
}


async def test_feeds_are_counted_by_status_and_entries_by_the_counts_of_their_feeds(any_db: Database) -> None:
    for number, status in enumerate(["active", "active", "error"]):
        feed = await add_feed(any_db, f"https://example.org/{number}", NOW)
        change = feeds.update().where(feeds.c.id == feed.id).values(status=status, entry_count=10)
        await any_db.batch([Step(change)])

    assert await metrics.count_feeds_by_status(any_db) == FeedCounts({"active": 2, "error": 1}, 30)


async def test_lateness_counts_from_when_a_feed_was_due(any_db: Database) -> None:
    for minutes in (-1, 0, 4, 6, 7):
        await add_feed(any_db, f"https://example.org/{minutes}", NOW - minutes * MINUTE)

    assert await metrics.count_due_feeds(any_db, NOW) == DueCounts(feeds=4, late=2, oldest=7 * MINUTE)


async def test_when_nothing_is_due_nothing_is_late(any_db: Database) -> None:
    assert await metrics.count_due_feeds(any_db, NOW) == DueCounts(feeds=0, late=0, oldest=timedelta())


async def test_each_fetch_is_counted_once_however_often_the_metrics_are_read(any_db: Database) -> None:
    feed = await add_feed(any_db, "https://example.org/", NOW)
    fetches = FetchCounter(NOW)
    same = {"feed_id": feed.id, "bytes": 100, "new_entries": 2}
    lines = [(1, "updated", 50), (2, "updated", 700), (3, "timeout", 40_000), (4, "updated", 1)]
    await any_db.batch(
        [Step(LINE, [same | {"at": to_iso(NOW + at * SECOND), "outcome": o, "ms": ms} for at, o, ms in lines])]
    )

    for at in (1, 2, 2, 3):
        await metrics.count_new_fetches(any_db, fetches, NOW + SETTLED_AFTER + at * SECOND)

    assert {outcome: n for outcome, n in fetches.by_outcome.items() if n} == {"updated": 2, "timeout": 1}
    assert dict(zip(BOUNDS, fetches.within, strict=True))[500] == 1
    assert fetches.within[-1] == 2
    assert (fetches.milliseconds, fetches.bytes, fetches.new_entries) == (40_750, 300, 6)


async def test_a_clock_that_was_set_back_counts_nothing_twice(db: Database) -> None:
    fetches = FetchCounter(NOW)

    await metrics.count_new_fetches(db, fetches, NOW - MINUTE)

    assert fetches.until == NOW


async def test_images_are_counted_by_status(any_db: Database) -> None:
    [entry] = await add_entries(any_db, ["one"])
    feed = await add_feed(any_db, "https://example.org/feed", NOW)
    same = {"feed_id": feed.id, "entry_id": entry, "original_url": "u"}
    times = {"created_at": to_iso(NOW), "updated_at": to_iso(NOW)}
    states = ["pending", "pending", "failed"]
    rows = [same | times | {"position": position, "status": status} for position, status in enumerate(states)]
    await any_db.batch([Step(IMAGE, rows)])

    assert await metrics.count_images(any_db) == {"pending": 2, "failed": 1}


async def test_pool_items_are_counted_by_group_kind_and_state(any_db: Database) -> None:
    await add_pool(any_db, ["one", "two"])
    first = pool_items.update().where(pool_items.c.kind == "titles").values(status=int(PoolItemState.USED))
    await any_db.batch([Step(first)])

    assert await metrics.count_pool_items(any_db) == {
        ("news", "titles", "used"): 2,
        ("news", "contents", "available"): 2,
    }


@pytest.fixture
async def sqlite(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    async with emptied(request, "sqlite", tmp_path) as database:
        yield database


@pytest.mark.parametrize("name", LOOKS_AT)
async def test_no_count_reads_rows_where_an_index_is_enough(sqlite: Database, name: str) -> None:
    statement, params, looked_at = LOOKS_AT[name]

    plan = [row["detail"] for row in await sqlite.query(_explain(statement, params))]

    assert [line for line in plan if line.startswith(looked_at)] != [], plan
    assert [line for line in plan if "SCAN" in line and "COVERING" not in line and "counted" not in line] == [], plan


def _explain(statement: Select[Any], params: dict[str, Any]) -> Any:
    written = statement.params(params).compile(
        dialect=sqlalchemy_dialect("sqlite"), compile_kwargs={"literal_binds": True}
    )
    return text(f"EXPLAIN QUERY PLAN {written}")
