"""Changes and ends a user's subscriptions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from msgspec import structs

from feedmill.collect.scheduling.cadence import CadenceSettings
from feedmill.library.feeds.private_feeds import private_url
from feedmill.library.subscriptions.feed_settings import check_feed_settings
from feedmill.library.subscriptions.lookup import find_subscription
from feedmill.library.subscriptions.reschedule import schedule_after_change
from feedmill.model.encrypted import Encrypted
from feedmill.model.feed_settings import JSON_SETTINGS, FeedSettings
from feedmill.model.subscription import Subscription
from feedmill.store.database import Database
from feedmill.store.feeds.add_feeds import NewFeed
from feedmill.store.subscriptions.change_subscription import change_http_options, change_subscription, end_subscription
from feedmill.store.subscriptions.feed_settings import subscription_settings
from feedmill.store.subscriptions.move_subscription import move_subscription


@dataclass(frozen=True, slots=True)
class SubscriptionChange:
    """`settings` has the changed fields of `FeedSettings`; `folder_ids` None: unchanged."""

    settings: Mapping[str, Any]
    folder_ids: Sequence[int] | None = None


class SettingsChange(NamedTuple):
    before: FeedSettings
    after: FeedSettings


async def update_subscription(
    db: Database, rules: CadenceSettings, user_id: int, subscription_id: int, change: SubscriptionChange, now: datetime
) -> Subscription:
    """Changes the settings of a subscription; the feed adopts the combined settings of its subscribers at once."""
    subscription = await find_subscription(db, user_id, subscription_id)
    before, after = await check_settings_change(db, user_id, subscription_id, change.settings)
    schedule = None
    if after.interval_seconds != before.interval_seconds or after.paused != before.paused:
        schedule = await schedule_after_change(db, rules, subscription, after, now)
    await change_subscription(db, user_id, subscription, before, after, change.folder_ids, schedule, now)
    return await find_subscription(db, user_id, subscription_id)


async def check_settings_change(
    db: Database, user_id: int, subscription_id: int, changes: Mapping[str, Any]
) -> SettingsChange:
    """The settings before and after these changes; raises a `CallerError` for invalid ones."""
    before = await subscription_settings(db, user_id, subscription_id)
    after = structs.replace(before, **changes)
    if JSON_SETTINGS.keys() & changes.keys():
        await check_feed_settings(db, user_id, after)
    return SettingsChange(before, after)


async def change_login(
    db: Database, user_id: int, subscription_id: int, http_options: Encrypted | None, now: datetime
) -> Subscription:
    """Changes the HTTP options of the feed. The subscriber of a shared feed gets a private one."""
    subscription = await find_subscription(db, user_id, subscription_id)
    own_url = private_url(subscription.url, user_id)
    if subscription.is_private:
        await change_http_options(db, own_url, http_options)
    elif http_options is not None:
        own = NewFeed(own_url, subscription.feed_title, for_subscribers=True, http_options=http_options)
        await move_subscription(db, user_id, subscription, own, now)
    return await find_subscription(db, user_id, subscription_id)


async def unsubscribe(db: Database, user_id: int, subscription_id: int) -> None:
    """Ends the subscription; starred, labelled and read-later entries stay."""
    await end_subscription(db, user_id, await find_subscription(db, user_id, subscription_id))
