"""Findings about webhooks, notifications, services, hubs and pools."""

import pytest

from feedmill.cli.doctor import deliveries
from feedmill.model.pool import PoolItemState
from feedmill.settings import Settings
from feedmill.store.database import Database
from feedmill.store.schema import (
    hub_subscriptions,
    notification_targets,
    pool_groups,
    pool_items,
    pool_texts,
    services,
    webhooks,
)
from tests.cli.doctor.findings_of import NOW, findings_of, insert, is_error, is_warning

WEBHOOK = {"user_id": 1, "url": "https://example.org/hook", "secret": "s", "events": "[]", "created_at": NOW}
TARGET = {
    "user_id": 1,
    "name": "phone",
    "scheme": "ntfy",
    "url": "enc",
    "events": "[]",
    "next_attempt_at": NOW,
    "created_at": NOW,
}


async def test_webhooks_that_fail_or_were_paused_for_it_are_warnings(settings: Settings, db: Database) -> None:
    await insert(db, webhooks, **WEBHOOK)
    fine = await findings_of(settings)
    await insert(db, webhooks, **WEBHOOK, consecutive_failures=1)
    await insert(db, webhooks, **WEBHOOK, consecutive_failures=20, paused=1)
    await insert(db, webhooks, **WEBHOOK, paused=1)

    found = await findings_of(settings)

    assert "webhooks_ok" in fine
    assert is_warning(found, "webhooks_paused", "1 webhook", "/settings/webhooks")
    assert is_warning(found, "webhooks_failing", "1 webhook", "allow_private")


async def test_notifications_that_fail_or_lack_their_library_are_found(
    settings: Settings, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await insert(db, notification_targets, **TARGET, last_error="no")
    found = await findings_of(settings)
    monkeypatch.setattr(deliveries, "is_installed", lambda package: False)

    assert is_warning(found, "notifications_failing", "1 notification target")
    assert is_error(await findings_of(settings), "notify_extra_missing", "feedmill[notify]")


async def test_a_service_that_does_not_save_is_a_warning(settings: Settings, db: Database) -> None:
    await insert(db, services, user_id=1, kind="wallabag", name="w", options="enc", last_error="no", created_at=NOW)

    assert is_warning(await findings_of(settings), "services_failing", "1 service")


async def test_a_hub_that_never_confirms_or_denies_is_a_warning(settings: Settings, db: Database) -> None:
    row = {"hub_url": "https://hub.example/", "topic_url": "https://a.example/feed", "last_error": "no", "feed_id": 1}
    asked = {"asked": "subscribe"}
    times = {"next_attempt_at": NOW, "created_at": NOW}
    await insert(db, hub_subscriptions, **row, **times, **asked, topic_hash="a", callback_token="a", attempts=1)
    once = await findings_of(settings)
    await insert(db, hub_subscriptions, **row, **times, **asked, topic_hash="b", callback_token="b", attempts=5)
    await insert(db, hub_subscriptions, **row, **times, topic_hash="c", callback_token="c", attempts=0)

    found = await findings_of(Settings(data=settings.data, public_url="https://feeds.example"))

    assert "hubs_failing" not in once
    assert is_warning(found, "hubs_failing", "2 WebSub subscriptions", "https://feeds.example", "websub = false")


async def test_pool_items_that_wait_for_a_decision_are_warnings(settings: Settings, db: Database) -> None:
    await insert(db, pool_groups, id=1, name="news", rule="{}", created_at=NOW)
    for number, state in enumerate((PoolItemState.HELD, PoolItemState.DEAD), 1):
        text = {"kind": "titles", "external_id": str(number), "batch_id": 1, "source": "s", "text": "t"}
        await insert(db, pool_texts, id=number, group_id=1, **text, added_at=NOW)
        item = {"kind": "titles", "text_id": number, "batch_id": 1, "status": int(state)}
        await insert(db, pool_items, group_id=1, **item, changed_at=NOW)

    found = await findings_of(settings)

    assert is_warning(found, "pool_items_held", "1 item", "feedmill pool lost news titles")
    assert is_warning(found, "pool_items_dead", "1 item", "feedmill pool requeue news titles")
