"""Changes and ends a user's subscriptions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec import structs

from feedmill.collect.refresh_decision import StoredPollingHints
from feedmill.collect.scheduling import cadence
from feedmill.collect.scheduling.cadence import CadenceSettings, PollingHints, PublishingPattern
from feedmill.library.feeds.private_feeds import private_url
from feedmill.library.subscriptions.feed_settings import check_feed_settings
from feedmill.library.subscriptions.lookup import find_subscription
from feedmill.model.encrypted import Encrypted
from feedmill.model.feed import Feed
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.refresh import Schedule
from feedmill.model.subscription import Subscription, SubscriptionOptions
from feedmill.store.database import Database
from feedmill.store.feeds.add_feeds import NewFeed
from feedmill.store.feeds.feeds import feeds_of_ids
from feedmill.store.subscriptions.add_subscriptions import move_subscription
from feedmill.store.subscriptions.change_subscription import change_http_options, change_subscription, end_subscription
from feedmill.store.subscriptions.feed_settings import subscription_settings
from feedmill.store.subscriptions.subscriptions import smallest_interval_of_others


@dataclass(frozen=True, slots=True)
class SubscriptionChange:
    """`chosen` has what changes of title, interval_seconds, archive_policy and paused; `folder_ids` None: as it is.

    `settings` has what changes of what is done with the feed's entries.
    """

    chosen: dict[str, Any]
    folder_ids: Sequence[int] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


async def update_subscription(
    db: Database, rules: CadenceSettings, user_id: int, subscription_id: int, change: SubscriptionChange, now: datetime
) -> Subscription:
    """Changes what a person chose; the feed takes all its subscribers' wishes into account at once."""
    subscription = await find_subscription(db, user_id, subscription_id)
    before = _choice(subscription)
    choice = replace(before, **change.chosen)
    settings = await changed_settings(db, user_id, subscription_id, change.settings)
    schedule = None
    if choice.interval_seconds != before.interval_seconds or choice.paused != before.paused:
        schedule = await _rescheduled(db, rules, subscription, choice, now)
    await change_subscription(db, user_id, subscription, choice, change.folder_ids, schedule, now, settings)
    return await find_subscription(db, user_id, subscription_id)


async def changed_settings(
    db: Database, user_id: int, subscription_id: int, changes: Mapping[str, Any]
) -> FeedSettings | None:
    """What is to be done with the entries after these changes, if it is something else than before."""
    if not changes:
        return None
    before = await subscription_settings(db, user_id, subscription_id)
    wanted = structs.replace(before, **changes)
    await check_feed_settings(db, user_id, wanted)
    return wanted if wanted != before else None


async def apply_interval(
    db: Database, rules: CadenceSettings, user_id: int, subscription: Subscription, now: datetime
) -> Subscription:
    """Lets the interval of a new subscriber count at once, for a feed that was here already."""
    choice = _choice(subscription)
    schedule = await _rescheduled(db, rules, subscription, choice, now)
    await change_subscription(db, user_id, subscription, choice, None, schedule, now)
    return await find_subscription(db, user_id, subscription.id)


async def change_login(
    db: Database, user_id: int, subscription_id: int, http_options: Encrypted | None, now: datetime
) -> Subscription:
    """Changes how the feed is asked for. A shared feed is left to the others: this person gets one of their own."""
    subscription = await find_subscription(db, user_id, subscription_id)
    own_url = private_url(subscription.url, user_id)
    if subscription.is_private:
        await change_http_options(db, own_url, http_options)
    elif http_options is not None:
        own = NewFeed(own_url, subscription.feed_title, for_subscribers=True, http_options=http_options)
        await move_subscription(db, user_id, subscription, own, now)
    return await find_subscription(db, user_id, subscription_id)


async def unsubscribe(db: Database, user_id: int, subscription_id: int) -> None:
    """Ends the subscription; what the person starred, labelled or put off stays theirs."""
    await end_subscription(db, user_id, await find_subscription(db, user_id, subscription_id))


def _choice(subscription: Subscription) -> SubscriptionOptions:
    names = ("interval_seconds", "archive_policy", "paused")
    return SubscriptionOptions(subscription.own_title, **{name: getattr(subscription, name) for name in names})


async def _rescheduled(
    db: Database, rules: CadenceSettings, subscription: Subscription, choice: SubscriptionOptions, now: datetime
) -> Schedule | None:
    """When a feed that is well is due, now that the interval is another; None for one that has its own reasons."""
    [feed] = await feeds_of_ids(db, [subscription.feed_id])
    if feed.declared or feed.consecutive_failures or feed.last_fetched_at is None:
        return None
    others = await smallest_interval_of_others(db, feed.id, subscription.id)
    mine = None if choice.paused else choice.interval_seconds
    asked = [seconds for seconds in (mine, others) if seconds is not None]
    return next_fetch_schedule(feed, timedelta(seconds=min(asked)) if asked else None, feed.last_fetched_at, now, rules)


def next_fetch_schedule(
    feed: Feed, interval: timedelta | None, last: datetime, now: datetime, rules: CadenceSettings
) -> Schedule:
    """The next fetch by this interval, counted from the last one."""
    kept = msgspec.json.decode(feed.wishes, type=StoredPollingHints) if feed.wishes else StoredPollingHints()
    hint = timedelta(seconds=kept.seconds) if kept.seconds else None
    wishes = PollingHints(hint, kept.name, frozenset(kept.skip_hours), frozenset(kept.skip_days))
    schedule = cadence.after_success(
        last, PublishingPattern(feed.rhythm, feed.last_entry_at), interval, wishes, rules, 0
    )
    return Schedule(max(schedule.at or now, now), schedule.why)
