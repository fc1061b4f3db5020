"""What fails or waits too long is counted on every database."""

from datetime import timedelta

from feedmill.model.timestamps import to_iso
from feedmill.store.admin import failure_counts
from feedmill.store.admin.database_check import PROBE, probe_writing
from feedmill.store.admin.failure_counts import FailingWebhooks
from feedmill.store.admin.maintenance_tasks import ALWAYS, setting_name
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.instance_state import read_instance_value, set_instance_value
from feedmill.store.schema import fetch_log
from tests.pools.pool_rows import NOW

EARLIER = NOW - timedelta(days=1)
COUNTS = (
    failure_counts.count_notification_targets,
    failure_counts.failing_notification_targets,
    failure_counts.failing_services,
    failure_counts.failing_hub_subscriptions,
    failure_counts.failed_filter_jobs,
    failure_counts.image_bytes,
)


async def test_nothing_fails_in_a_new_database(any_db: Database) -> None:
    assert [await count(any_db) for count in COUNTS] == [0] * len(COUNTS)
    assert await failure_counts.failing_webhooks(any_db) == FailingWebhooks(0, 0)
    assert await failure_counts.abandoned_batches(any_db, NOW) == 0
    assert await failure_counts.session_addresses(any_db, NOW) == set()


async def test_hosts_that_were_asked_are_reached_or_not(any_db: Database) -> None:
    names = ("there", "away", "refused")
    there, away, refused = [await add_feed(any_db, f"https://{name}.example/feed", NOW) for name in names]
    lines = [(there.id, "timeout"), (there.id, "not_modified"), (away.id, "dns")]
    lines += [(refused.id, "refused"), (refused.id, "blocked"), (away.id, "refused")]
    rows = [{"feed_id": feed_id, "at": to_iso(NOW), "outcome": outcome} for feed_id, outcome in lines]
    await any_db.batch([Step(insert(fetch_log, "feed_id", "at", "outcome"), rows)])

    assert await failure_counts.recently_reached_hosts(any_db, EARLIER) == {
        "there.example": True,
        "away.example": False,
    }
    assert await failure_counts.recently_reached_hosts(any_db, NOW + timedelta(days=1)) == {}


async def test_a_maintenance_task_that_was_due_long_ago_is_overdue_and_a_new_one_is_not(any_db: Database) -> None:
    for name, at in (("purge", to_iso(EARLIER)), ("prune_stories", to_iso(NOW)), ("index_entries", ALWAYS)):
        await set_instance_value(any_db, setting_name(name), at)

    assert await failure_counts.overdue_maintenance_tasks(any_db, NOW - timedelta(hours=1)) == ["purge"]


async def test_a_probe_of_writing_leaves_nothing(any_db: Database) -> None:
    await probe_writing(any_db, "token")

    assert await read_instance_value(any_db, PROBE) is None
