"""Queries for admins, on each of the four databases."""

from dataclasses import asdict
from datetime import timedelta
from pathlib import Path

from sqlalchemy import text

from feedmill.model.user import Actor
from feedmill.store.admin.feeds import feeds_page, move_feed, pause_feed, read_admin_feed, resume_feed
from feedmill.store.admin.hosts import hosts_page
from feedmill.store.admin.users import users_page
from feedmill.store.archive.storage_usage import LARGEST, measure_storage_usage
from feedmill.store.archive.user_storage_usage import archived_bytes_by_user
from feedmill.store.database import Database
from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.feeds.claims import claim_feeds
from feedmill.store.jobs.batches import start_batch
from feedmill.store.jobs.current_activity import (
    count_open_deliveries,
    latest_failures,
    running_batches,
    running_feeds,
    waiting_hosts,
)
from feedmill.store.migrations import sqlalchemy_dialect
from tests.library.small_library import NOW, SmallLibrary
from tests.sqlite_template import copy_template


async def test_every_query_for_admins_runs_on_every_database(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, feed_id = await library.person(), await library.feed("a")
    await library.subscribe(alice, feed_id)
    batch_id, _ = await start_batch(any_db, "refresh_all", [feed_id], NOW)
    found = await read_admin_feed(any_db, feed_id)
    assert found is not None

    await pause_feed(any_db, found.feed, Actor(), NOW)
    await resume_feed(any_db, found.feed, Actor(), NOW)
    await move_feed(any_db, found.feed, "https://b.example.org/", None, Actor(), NOW)

    [moved] = await feeds_page(any_db, 0, 10, only_failing=False)
    assert (moved.feed.url, moved.subscribers) == ("https://b.example.org/", 1)
    assert [account.feeds for account in await users_page(any_db, 0, 10)] == [1]
    assert [batch.id for batch in await running_batches(any_db, 10)] == [batch_id]
    assert [host.host for host in await hosts_page(any_db, "", 10)] == ["b.example.org"]
    assert (await latest_failures(any_db, NOW, 10), await count_open_deliveries(any_db)) == ([], {})
    room = asdict(await measure_storage_usage(any_db))
    assert (room["feeds"], room["raw_bytes"], room["largest"]) == (1, 0, [])


async def test_running_feeds_and_those_that_wait_for_their_host_are_reported(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, running, waiting = await library.person(), await library.feed("a"), await library.feed("b")
    await library.subscribe(alice, running)
    await claim_feeds(any_db, [running], NOW)
    later = NOW + timedelta(seconds=40)

    [(feed, since)] = await running_feeds(any_db, later, 10)
    [host] = await waiting_hosts(any_db, later, 10)

    assert (feed.id, since) == (running, NOW)
    assert (host.host, host.feeds, host.since) == ("b.example.org", 1, NOW)
    assert waiting != running
    assert await archived_bytes_by_user(any_db, [alice.id, 999]) == {alice.id: 0, 999: 0}


async def test_storage_usage_is_read_from_indexes_alone(tmp_path: Path) -> None:
    await copy_template(tmp_path / "feedmill.db")
    db = SqliteDatabase(tmp_path / "feedmill.db")
    try:
        sql = str(LARGEST.compile(dialect=sqlalchemy_dialect("sqlite"))).replace("?", "20")
        plan = [row["detail"] for row in await db.query(text(f"EXPLAIN QUERY PLAN {sql}"))]
    finally:
        await db.close()

    read = [line for line in plan if line.startswith(("SCAN raw_bodies", "SCAN image_tasks"))]
    assert (len(read), [line for line in read if "COVERING INDEX" not in line]) == (2, [])
