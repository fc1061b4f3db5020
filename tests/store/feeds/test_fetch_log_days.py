"""The fetch log of PostgreSQL is divided by day: days are added ahead, and dropped whole."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import bindparam, select, text
from structlog.testing import capture_logs

from feedmill.archive.purge import RetentionPeriods, purge
from feedmill.errors import StatementRefused
from feedmill.model.timestamps import to_iso
from feedmill.store.archive.prune_old_rows import count_old_log_lines, drop_old_log_lines
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.drivers import retry
from feedmill.store.drivers.postgres import PostgresDatabase
from feedmill.store.feeds import fetch_log_days
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.feeds.fetch_log import fetches_before, latest_fetches
from feedmill.store.feeds.fetch_log_days import DAYS_AHEAD, add_log_days
from feedmill.store.migrations import migrate
from feedmill.store.schema import batches, feeds, fetch_log, object_garbage
from tests.databases import blank, emptied
from tests.flows.conftest import open_environment
from tests.waiting import until

NOW = datetime(2026, 3, 9, 15, 30, tzinfo=UTC)
DAY = timedelta(days=1)
DEFAULT, EARLIER = "fetch_log_default", "fetch_log_earlier"
LINE = insert(fetch_log, "feed_id", "at", "outcome")
CHANGE_FEED = feeds.update().where(feeds.c.id == bindparam("feed_id")).values(claim_check=0)
ASLEEP = text("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()")
WHERE = text("SELECT CAST(tableoid AS regclass) || '' AS name, at FROM fetch_log ORDER BY at")
PARTITIONS = text("SELECT relname AS name FROM pg_class WHERE relispartition AND relkind = 'r' ORDER BY relname")


@pytest.fixture
async def divided(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[PostgresDatabase]:
    """A PostgreSQL of its own: other tests share their partitions."""
    async with blank(request, "postgresql", tmp_path) as connect:
        database = connect()
        assert isinstance(database, PostgresDatabase)
        await migrate(database)
        yield database
        await database.close()


@pytest.fixture(params=["sqlite", "postgresql", "mariadb", "d1"])
async def any_database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    async with emptied(request, request.param, tmp_path) as database:
        yield database


async def test_each_of_the_next_days_gets_a_partition_once(divided: Database) -> None:
    added = [await add_log_days(divided, NOW + days * DAY) for days in (0, 0, 1)]

    assert added == [DAYS_AHEAD, 0, 1]
    assert await partitions(divided) == [*(f"fetch_log_202603{day}" for day in range(10, 18)), DEFAULT]


async def test_a_line_is_in_the_partition_of_its_day_and_without_one_in_the_default(divided: Database) -> None:
    await add_log_days(divided, NOW)

    await log_at(divided, NOW, NOW + DAY, NOW + 8 * DAY)

    assert [row["name"] for row in await divided.query(WHERE)] == [DEFAULT, "fetch_log_20260310", DEFAULT]


async def test_a_day_that_has_lines_in_the_default_partition_gets_none(divided: Database) -> None:
    await log_at(divided, NOW + 2 * DAY)

    assert await add_log_days(divided, NOW) == DAYS_AHEAD - 1

    assert "fetch_log_20260311" not in await partitions(divided)


async def test_days_are_added_after_the_clock_was_a_year_ahead(divided: Database) -> None:
    await add_log_days(divided, NOW + 365 * DAY)

    assert [await add_log_days(divided, NOW) for _ in range(2)] == [DAYS_AHEAD, 0]


async def test_expired_days_are_dropped_and_counted_with_the_lines_of_the_default_partition(divided: Database) -> None:
    await add_log_days(divided, NOW)
    await log_at(divided, NOW, NOW + DAY, NOW + DAY, NOW + 2 * DAY)
    later = NOW + 2 * DAY
    would_drop = await count_old_log_lines(divided, later)

    assert await drop_old_log_lines(divided, later) == would_drop == 3
    assert await drop_old_log_lines(divided, later) == 0

    assert "fetch_log_20260310" not in await partitions(divided)
    assert [row["at"] for row in await divided.query(WHERE)] == [to_iso(later)]


async def test_the_lines_of_a_large_day_are_not_counted_one_by_one(
    divided: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch_log_days, "MOST_COUNTED", 2)
    await add_log_days(divided, NOW)
    await log_at(divided, *[NOW + DAY] * 5)
    await divided.exec("ANALYZE fetch_log_20260310")
    await log_at(divided, NOW + DAY)

    assert await drop_old_log_lines(divided, NOW + 2 * DAY) == 5


async def test_a_day_that_somebody_reads_for_long_is_dropped_later_and_the_others_now(
    divided: PostgresDatabase,
) -> None:
    await add_log_days(divided, NOW)
    await log_at(divided, NOW + DAY, NOW + 2 * DAY)
    async with divided.snapshot() as reader:
        await reader.query(text("SELECT 1 FROM fetch_log_20260310"))

        with capture_logs() as logged, pytest.raises(StatementRefused, match="lock timeout"):
            await drop_old_log_lines(divided, NOW + 3 * DAY)

    assert [(line["event"], line["partition"]) for line in logged] == [("log_day_not_dropped", "fetch_log_20260310")]
    assert [row["name"] for row in await divided.query(WHERE)] == ["fetch_log_20260310"]
    assert await drop_old_log_lines(divided, NOW + 3 * DAY) == 1


async def test_a_purge_goes_on_while_somebody_reads_the_log_for_long(divided: PostgresDatabase, tmp_path: Path) -> None:
    await add_log_days(divided, NOW)
    async with open_environment(divided, tmp_path) as env, divided.snapshot() as reader:
        await log_at(divided, NOW + DAY)
        at = to_iso(NOW)
        await env.put(
            batches, token="t", kind="k", total=1, created_at=at, heartbeat_at=at, status="done", finished_at=at
        )
        await env.put(object_garbage, key="images/1/aa/0.png", recorded_at=at)
        await reader.query(select(fetch_log))

        with pytest.raises(StatementRefused, match="lock timeout"):
            await purge(divided, env.blobs, RetentionPeriods(), NOW + 99 * DAY)

        assert await env.rows(batches) == await env.rows(object_garbage) == []


@pytest.mark.parametrize("change", [add_log_days, drop_old_log_lines])
async def test_a_change_of_days_and_a_refresh_do_not_wait_for_each_other(
    divided: Database, monkeypatch: pytest.MonkeyPatch, change: Callable[[Database, datetime], Awaitable[int]]
) -> None:
    monkeypatch.setattr(retry, "BATCH_TRIES", 1)
    await add_log_days(divided, NOW)
    later = NOW + 3 * DAY
    feed_id = await log_at(divided, NOW + DAY, later)
    line = Step(LINE, {"feed_id": feed_id, "at": to_iso(later), "outcome": "updated"})
    refresh = divided.batch([Step(CHANGE_FEED, {"feed_id": feed_id}), Step(text("SELECT pg_sleep(0.4)")), line])

    async def change_meanwhile() -> int:
        await until(lambda: is_asleep(divided))
        return await change(divided, later)

    _, changed = await asyncio.gather(refresh, change_meanwhile())

    assert changed


async def test_lines_from_before_the_migration_are_kept_and_dropped_when_all_have_expired(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    async with blank(request, "postgresql", tmp_path) as connect:
        db = connect()
        await migrate(db, up_to=6)
        feed_id = await log_at(db, NOW, NOW + DAY)
        now = datetime.now(UTC)

        await migrate(db)
        await add_log_days(db, now)
        await log_at(db, now, now + DAY)

        assert [row["name"] for row in await db.query(WHERE)] == [EARLIER] * 3 + [f"fetch_log_{now + DAY:%Y%m%d}"]
        assert len(await latest_fetches(db, feed_id, 10)) == 4
        assert await drop_old_log_lines(db, now) == 2
        assert await drop_old_log_lines(db, now + DAY) == 1
        assert EARLIER not in await partitions(db)
        await db.close()


async def test_the_log_of_a_feed_is_read_over_several_days(any_database: Database) -> None:
    await add_log_days(any_database, NOW)
    times = [NOW + hours * timedelta(hours=7) for hours in range(9)]
    feed_id = await log_at(any_database, *times)

    latest = await latest_fetches(any_database, feed_id, 5)
    page = await fetches_before(any_database, feed_id, None, 4)
    rest = await fetches_before(any_database, feed_id, page[-1][0], 10)

    assert [line.at for line in latest] == times[:3:-1]
    assert [line.at for _, line in [*page, *rest]] == times[::-1]


async def test_only_whole_days_are_dropped(any_database: Database) -> None:
    await log_at(any_database, NOW - DAY, NOW - timedelta(minutes=1), NOW)

    assert await drop_old_log_lines(any_database, NOW) == 1

    [row] = await any_database.query(select(fetch_log.c.at).order_by(fetch_log.c.at).limit(1))
    assert row["at"] == to_iso(NOW - timedelta(minutes=1))


async def test_the_lines_of_a_deleted_feed_go_from_every_day(divided: Database) -> None:
    await add_log_days(divided, NOW)
    feed_id = await log_at(divided, NOW, NOW + DAY)

    await divided.batch([Step(feeds.delete().where(feeds.c.id == bindparam("feed_id")), {"feed_id": feed_id})])

    assert await divided.query(WHERE) == []


async def log_at(db: Database, *times: datetime) -> int:
    """Logs fetches of a feed at these times; the id of the feed."""
    feed = await add_feed(db, "https://example.org/feed", NOW)
    await db.batch([Step(LINE, [{"feed_id": feed.id, "at": to_iso(at), "outcome": "updated"} for at in times])])
    return feed.id


async def is_asleep(db: Database) -> bool:
    """Whether a statement of this database sleeps."""
    return bool(await db.query(ASLEEP))


async def partitions(db: Database) -> list[str]:
    return [row["name"] for row in await db.query(PARTITIONS)]
