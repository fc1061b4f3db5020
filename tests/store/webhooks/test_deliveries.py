"""The webhook outbox on every database: claiming, settling, and counting failures."""

from datetime import datetime, timedelta

from sqlalchemy import select

from feedmill.i18n.messages import verbatim
from feedmill.model.timestamps import to_iso
from feedmill.model.user import Actor
from feedmill.model.webhook import PAUSE_AFTER, ClaimedDelivery, DeliveryFailed, DeliveryStatus, Webhook, WebhookEvent
from feedmill.store.admin.retry_dead_letters import retry_all_dead_letters
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.leases import LEASE
from feedmill.store.schema import deliveries, subscriptions, webhooks
from feedmill.store.users.users import add_user
from feedmill.store.webhooks.deliveries import deliveries_of, delivery_of, prune_deliveries, retry_delivery
from feedmill.store.webhooks.delivery_queue import (
    postpone_deliveries,
    record_delivered,
    record_dropped_delivery,
    record_failed_delivery,
    release_deliveries,
    step_to_queue_event,
    take_deliveries,
)
from feedmill.store.webhooks.event_data import read_event_entries, read_event_feed
from feedmill.store.webhooks.webhooks import add_webhook, save_webhook, webhook_of
from tests.pools.pool_rows import NOW, add_entries

SUBSCRIBE = insert(subscriptions, "user_id", "feed_id", "created_at")
STATUSES = select(deliveries.c.id, deliveries.c.status, deliveries.c.attempts).order_by(deliveries.c.id)
MANY = 2**53 - 1


async def _hook(db: Database, events: int = 1, url: str = "https://example.org/feed") -> Webhook:
    """A webhook of a subscriber to `url`, with this many events in its outbox."""
    user = await add_user(db, "alice", None, False, NOW)
    feed = await add_feed(db, url, NOW)
    await db.batch([Step(SUBSCRIBE, {"user_id": user.id, "feed_id": feed.id, "created_at": to_iso(NOW)})])
    hook = await add_webhook(db, user.id, "https://alice.example/hook", "secret", [WebhookEvent.NEW_ENTRIES], NOW)
    await db.batch([step_to_queue_event(WebhookEvent.NEW_ENTRIES, feed.id, "t", NOW) for _ in range(events)])
    return hook


async def _take(db: Database, each: int = 100, at: datetime = NOW) -> list[ClaimedDelivery]:
    hooks = [row["id"] for row in await db.query(select(webhooks.c.id))]
    return await take_deliveries(db, hooks, at, 100, each)


async def _again(db: Database, hook: Webhook) -> Webhook:
    found = await webhook_of(db, hook.user_id, hook.id)
    assert found is not None
    return found


async def test_failed_deliveries_are_due_again_on_command(any_db: Database) -> None:
    await _hook(any_db, events=2)
    dead, waiting = await _take(any_db)
    await record_failed_delivery(any_db, dead, DeliveryFailed(verbatim("gone for good"), None), NOW)

    assert await retry_all_dead_letters(any_db, "deliveries", Actor(), NOW) == 1

    found = await delivery_of(any_db, dead.delivery.webhook_id, dead.delivery.id)
    assert found is not None
    assert (found.status, found.attempts, found.last_error) == (DeliveryStatus.PENDING, 0, None)
    assert waiting.delivery.id != dead.delivery.id


async def test_each_delivery_is_claimed_once_until_its_lease_ends(any_db: Database) -> None:
    await _hook(any_db, events=3)

    first, second = await _take(any_db, each=2), await _take(any_db)
    later = await _take(any_db, at=NOW + LEASE)

    assert [len(first), len(second), len(later)] == [2, 1, 3]
    assert not {taken.delivery.id for taken in first} & {taken.delivery.id for taken in second}


async def test_only_the_holder_of_a_delivery_can_settle_it(any_db: Database) -> None:
    hook = await _hook(any_db)
    [slow] = await _take(any_db)
    [quick] = await _take(any_db, at=NOW + LEASE)

    late = await record_failed_delivery(any_db, slow, DeliveryFailed(verbatim("too slow"), None), NOW + LEASE)
    settled = await record_delivered(any_db, quick, 200, NOW + LEASE)

    assert (late, settled) == (False, True)
    assert (await _again(any_db, hook)).consecutive_failures == 0
    assert (await _again(any_db, hook)).last_success_at == NOW + LEASE


async def test_failures_are_counted_and_the_last_one_pauses_the_webhook(any_db: Database) -> None:
    hook = await _hook(any_db)
    await any_db.batch([Step(webhooks.update().values(consecutive_failures=PAUSE_AFTER - 2))])

    [taken] = await _take(any_db)
    await record_failed_delivery(any_db, taken, DeliveryFailed(verbatim("no"), NOW, 500), NOW)
    before = await _again(any_db, hook)
    [taken] = await _take(any_db)
    await record_failed_delivery(any_db, taken, DeliveryFailed(verbatim("no"), NOW + LEASE, 500), NOW)
    after = await _again(any_db, hook)

    assert (before.paused, before.consecutive_failures, before.last_error) == (False, PAUSE_AFTER - 1, verbatim("no"))
    assert (after.paused, after.consecutive_failures) == (True, PAUSE_AFTER)
    assert str(after.last_error).startswith("paused")


async def test_deferred_deliveries_wait_together_and_count_as_no_attempt(any_db: Database) -> None:
    hook = await _hook(any_db, events=3)
    [taken] = await _take(any_db, each=1)

    await postpone_deliveries(any_db, taken, NOW + timedelta(hours=1), NOW)

    found = await deliveries_of(any_db, hook.id, MANY, 10)
    assert {(one.next_attempt_at, one.attempts) for one in found} == {(NOW + timedelta(hours=1), 0)}


async def test_deliveries_are_released_dropped_or_requested_again(any_db: Database) -> None:
    hook = await _hook(any_db, events=2)
    first, second = await _take(any_db)

    await record_dropped_delivery(any_db, first, NOW)
    await release_deliveries(any_db, second.token, NOW)
    again = await retry_delivery(any_db, hook.id, first.delivery.id, NOW)
    pending = await retry_delivery(any_db, hook.id, second.delivery.id, NOW)

    assert (again, pending) == (True, False)
    assert [taken.delivery.id for taken in await _take(any_db)] == [first.delivery.id, second.delivery.id]


async def test_pages_continue_without_gap_and_old_deliveries_are_deleted(any_db: Database) -> None:
    hook = await _hook(any_db, events=3)

    [third, second] = await deliveries_of(any_db, hook.id, MANY, 2)
    [first] = await deliveries_of(any_db, hook.id, second.id, 2)

    assert third.id > second.id > first.id
    assert await delivery_of(any_db, hook.id + 1, first.id) is None
    assert await prune_deliveries(any_db, NOW + timedelta(seconds=1)) == 3


async def test_a_paused_webhook_gets_no_event_and_no_request(any_db: Database) -> None:
    hook = await _hook(any_db)
    paused = Webhook(**{name: getattr(hook, name) for name in hook.__slots__} | {"paused": True})
    await save_webhook(any_db, paused, forgiven=False)

    feed = await add_feed(any_db, "https://example.org/feed", NOW)
    await any_db.batch([step_to_queue_event(WebhookEvent.NEW_ENTRIES, feed.id, "t", NOW)])

    assert await _take(any_db) == []
    assert len(await any_db.query(STATUSES)) == 1


async def test_the_content_of_a_delivery_is_read_when_it_is_sent(any_db: Database) -> None:
    hook = await _hook(any_db)
    ids = await add_entries(any_db, ["one", "two", "three"])
    [taken] = await _take(any_db)

    delivery, token = taken.delivery, taken.refresh_token or ""
    count, newest = await read_event_entries(any_db, delivery.event, delivery.feed_id, hook.user_id, token, 2)
    feed = await read_event_feed(any_db, taken.delivery.feed_id, hook.user_id)

    assert (count, [entry.id for entry in newest]) == (3, [ids[2], ids[1]])
    assert feed is not None
    assert feed.url == "https://example.org/feed"
    assert await read_event_feed(any_db, taken.delivery.feed_id, hook.user_id + 1) is None


async def test_a_delivery_has_its_outcome(any_db: Database) -> None:
    await _hook(any_db)
    [taken] = await _take(any_db)

    await record_failed_delivery(any_db, taken, DeliveryFailed(verbatim("refused"), None), NOW)

    [row] = await any_db.query(STATUSES)
    assert (row["status"], row["attempts"]) == (DeliveryStatus.DEAD, 1)
