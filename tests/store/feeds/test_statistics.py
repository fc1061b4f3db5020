"""Figures of many feeds at once, on each of the four databases."""

from datetime import UTC, datetime

from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.feeds.statistics import archived_bytes_by_feed, entries_by_day
from feedmill.store.jobs.batches import cancel_batch, running_batch, start_batch
from feedmill.store.schema import entries, feeds, image_tasks, raw_bodies

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
AT = to_iso(NOW)
ADD_FEED = insert(feeds, "id", "url", "host", "created_at")
ADD_ENTRY = insert(
    entries, "id", "feed_id", "guid", "sort_at", "refresh_token", "digest", "first_seen_at", "last_seen_at"
)
ADD_BODY = insert(raw_bodies, "feed_id", "key", "fetched_at", "sha256", "size")
ADD_IMAGE = insert(
    image_tasks, "feed_id", "entry_id", "position", "original_url", "status", "size", "created_at", "updated_at"
)


def entry(id: int, feed_id: int, day: int) -> dict[str, object]:
    at = to_iso(datetime(2026, 2, day, 23, 59, tzinfo=UTC))
    same = dict.fromkeys(("sort_at", "first_seen_at", "last_seen_at"), at)
    return same | {"id": id, "feed_id": feed_id, "guid": str(id), "refresh_token": "t", "digest": "d"}


def image(entry_id: int, status: str, size: int) -> dict[str, object]:
    same = {"feed_id": 1, "position": 0, "original_url": "u", "created_at": AT, "updated_at": AT}
    return same | {"entry_id": entry_id, "status": status, "size": size}


async def furnish(db: Database) -> None:
    """Three feeds; the first has two raw bodies, one archived image and one that failed."""
    bodies = [
        {"feed_id": f, "key": f"{f}/{n}", "fetched_at": AT, "sha256": "s", "size": n}
        for f, n in ((1, 5), (1, 7), (2, 9))
    ]
    await db.batch(
        [
            Step(ADD_FEED, [{"id": id, "url": f"http://{id}", "host": "h", "created_at": AT} for id in (1, 2, 3)]),
            Step(ADD_ENTRY, [entry(1, 1, 3), entry(2, 1, 3), entry(3, 1, 4), entry(4, 2, 1), entry(5, 2, 9)]),
            Step(ADD_BODY, bodies),
            Step(ADD_IMAGE, [image(1, "success", 100), image(2, "failed", 3)]),
        ]
    )


async def test_archived_bytes_are_summed_by_feed(any_db: Database) -> None:
    await furnish(any_db)

    assert await archived_bytes_by_feed(any_db, [1, 2, 3]) == {1: 112, 2: 9}
    assert await archived_bytes_by_feed(any_db, []) == {}


async def test_entries_are_counted_by_day(any_db: Database) -> None:
    await furnish(any_db)

    found = await entries_by_day(any_db, [1, 2, 3], datetime(2026, 2, 2, tzinfo=UTC))

    assert found == {1: {"2026-02-03": 2, "2026-02-04": 1}, 2: {"2026-02-09": 1}}


async def test_the_latest_running_batch_of_several_feeds_is_found(any_db: Database) -> None:
    first, _ = await start_batch(any_db, "refresh_all", [1, 2], NOW, user_id=7)
    await start_batch(any_db, "refresh", [3], NOW, user_id=7)
    await start_batch(any_db, "refresh_all", [1, 2], NOW, user_id=8)

    assert await running_batch(any_db, 7) == first
    await cancel_batch(any_db, first, NOW)
    assert await running_batch(any_db, 7) is None
