"""Leases on the URLs of webhooks, on every database: one process at a time delivers to a URL."""

from datetime import timedelta

from feedmill.model.timestamps import to_iso
from feedmill.model.webhook import WebhookEvent
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.leases import LEASE
from feedmill.store.schema import subscriptions
from feedmill.store.users.users import add_user
from feedmill.store.webhooks.delivery_queue import step_to_queue_event
from feedmill.store.webhooks.url_leases import lease_due_urls, release_urls
from feedmill.store.webhooks.webhooks import add_webhook
from tests.pools.pool_rows import NOW

SUBSCRIBE = insert(subscriptions, "user_id", "feed_id", "created_at")


async def _hooks(db: Database, *urls: str) -> list[int]:
    """Webhooks at these URLs, each with an event that is due."""
    user = await add_user(db, "alice", None, False, NOW)
    feed = await add_feed(db, "https://example.org/feed", NOW)
    await db.batch([Step(SUBSCRIBE, {"user_id": user.id, "feed_id": feed.id, "created_at": to_iso(NOW)})])
    events = [WebhookEvent.NEW_ENTRIES]
    hooks = [await add_webhook(db, user.id, url, f"secret {n}", events, NOW) for n, url in enumerate(urls)]
    await db.batch([step_to_queue_event(WebhookEvent.NEW_ENTRIES, feed.id, "t", NOW)])
    return [hook.id for hook in hooks]


async def test_a_url_is_leased_once_and_again_after_its_release_or_its_time(any_db: Database) -> None:
    same = "https://alice.example/hook"
    one, two, other = await _hooks(any_db, same, same, "https://alice.example/other")

    first = await lease_due_urls(any_db, NOW, 100, 1)
    second = await lease_due_urls(any_db, NOW, 100, 100)
    third = await lease_due_urls(any_db, NOW, 100, 100)
    await release_urls(any_db, first)
    after_release = await lease_due_urls(any_db, NOW, 100, 100)
    after_its_time = await lease_due_urls(any_db, NOW + LEASE + timedelta(seconds=1), 100, 100)

    assert (first.webhook_ids, second.webhook_ids, third.webhook_ids) == ((one, two), (other,), ())
    assert after_release.webhook_ids == (one, two)
    assert set(after_its_time.webhook_ids) == {one, two, other}
