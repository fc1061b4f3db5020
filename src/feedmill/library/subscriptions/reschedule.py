"""Reschedules a feed when its subscribers change how often it is fetched."""

from datetime import datetime, timedelta

import msgspec

from feedmill.collect.refresh_decision import StoredPollingHints
from feedmill.collect.scheduling import cadence
from feedmill.collect.scheduling.cadence import CadenceSettings, PollingHints, PublishingPattern
from feedmill.library.subscriptions.lookup import find_subscription
from feedmill.model.feed import Feed
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.refresh import Schedule
from feedmill.model.subscription import Subscription
from feedmill.store.database import Database
from feedmill.store.feeds.read_feeds import feeds_of_ids
from feedmill.store.subscriptions.change_subscription import change_subscription
from feedmill.store.subscriptions.feed_settings import subscription_settings
from feedmill.store.subscriptions.read_subscriptions import smallest_interval_of_others


async def apply_interval(
    db: Database, rules: CadenceSettings, user_id: int, subscription: Subscription, now: datetime
) -> Subscription:
    """Reschedules an existing feed by the interval of a new subscriber."""
    settings = await subscription_settings(db, user_id, subscription.id)
    schedule = await schedule_after_change(db, rules, subscription, settings, now)
    await change_subscription(db, user_id, subscription, settings, settings, None, schedule, now)
    return await find_subscription(db, user_id, subscription.id)


async def schedule_after_change(
    db: Database, rules: CadenceSettings, subscription: Subscription, settings: FeedSettings, now: datetime
) -> Schedule | None:
    """The schedule of a feed after its interval changed; None if it is declared, failing or was never fetched."""
    [feed] = await feeds_of_ids(db, [subscription.feed_id])
    if feed.declared or feed.consecutive_failures or feed.last_fetched_at is None:
        return None
    others = await smallest_interval_of_others(db, feed.id, subscription.id)
    own = None if settings.paused else settings.interval_seconds
    asked = [seconds for seconds in (own, others) if seconds is not None]
    return next_fetch_schedule(feed, timedelta(seconds=min(asked)) if asked else None, feed.last_fetched_at, now, rules)


def next_fetch_schedule(
    feed: Feed, interval: timedelta | None, last: datetime, now: datetime, rules: CadenceSettings
) -> Schedule:
    """The schedule by this interval, counted from the last fetch."""
    kept = (
        msgspec.json.decode(feed.polling_hints, type=StoredPollingHints) if feed.polling_hints else StoredPollingHints()
    )
    hint = timedelta(seconds=kept.seconds) if kept.seconds else None
    hints = PollingHints(hint, kept.name, frozenset(kept.skip_hours), frozenset(kept.skip_days))
    schedule = cadence.after_success(
        last, PublishingPattern(feed.usual_gap, feed.last_entry_at), interval, hints, rules, 0
    )
    return Schedule(max(schedule.at or now, now), schedule.why)
