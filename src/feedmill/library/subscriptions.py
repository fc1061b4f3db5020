"""What a person does with their subscriptions: see them, change them, end them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec import structs

from feedmill.collect import cadence
from feedmill.collect.cadence import Habit, Rules, Wishes
from feedmill.collect.decide import KeptWishes
from feedmill.errors import NotFound
from feedmill.library.feed_settings import check_settings
from feedmill.library.folders import find_folder, inside
from feedmill.library.privacy import private_url
from feedmill.model.feed import Feed
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.refresh import Schedule
from feedmill.model.subscription import Choice, Subscription
from feedmill.store.additions import NewFeed
from feedmill.store.database import Database
from feedmill.store.feed_settings import settings_of
from feedmill.store.feeds import feeds_of_ids
from feedmill.store.folders import folders_of
from feedmill.store.subscribers import change_options, change_subscription, end_subscription
from feedmill.store.subscribing import move_subscription
from feedmill.store.subscriptions import smallest_interval_of_others, subscription_of, subscriptions_of


@dataclass(frozen=True, slots=True)
class Change:
    """`chosen` has what changes of title, interval_seconds, archive_policy and paused; `folder_ids` None: as it is.

    `settings` has what changes of what is done with the feed's entries.
    """

    chosen: dict[str, Any]
    folder_ids: Sequence[int] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


async def find_subscription(db: Database, user_id: int, subscription_id: int) -> Subscription:
    """The user's subscription, or `NotFound`, also for somebody else's."""
    found = await subscription_of(db, user_id, subscription_id)
    if found is None:
        raise NotFound("there is no such subscription")
    return found


async def subscriptions_in(db: Database, user_id: int, folder_id: int | None) -> list[Subscription]:
    """The user's subscriptions: all, or those of a folder and of the folders in it."""
    mine = await subscriptions_of(db, user_id)
    if folder_id is None:
        return mine
    await find_folder(db, user_id, folder_id)
    within = inside(await folders_of(db, user_id), folder_id)
    return [subscription for subscription in mine if within.intersection(subscription.folder_ids)]


async def change(
    db: Database, rules: Rules, user_id: int, subscription_id: int, change: Change, now: datetime
) -> Subscription:
    """Changes what a person chose; the feed takes all its subscribers' wishes into account at once."""
    subscription = await find_subscription(db, user_id, subscription_id)
    before = _choice(subscription)
    choice = replace(before, **change.chosen)
    settings = await wanted_settings(db, user_id, subscription_id, change.settings)
    schedule = None
    if choice.interval_seconds != before.interval_seconds or choice.paused != before.paused:
        schedule = await _rescheduled(db, rules, subscription, choice, now)
    await change_subscription(db, user_id, subscription, choice, change.folder_ids, schedule, now, settings)
    return await find_subscription(db, user_id, subscription_id)


async def wanted_settings(
    db: Database, user_id: int, subscription_id: int, changes: Mapping[str, Any]
) -> FeedSettings | None:
    """What is to be done with the entries after these changes, if it is something else than before."""
    if not changes:
        return None
    before = await settings_of(db, user_id, subscription_id)
    wanted = structs.replace(before, **changes)
    await check_settings(db, user_id, wanted)
    return wanted if wanted != before else None


async def follow_interval(
    db: Database, rules: Rules, user_id: int, subscription: Subscription, now: datetime
) -> Subscription:
    """Lets the interval of a new subscriber count at once, for a feed that was here already."""
    choice = _choice(subscription)
    schedule = await _rescheduled(db, rules, subscription, choice, now)
    await change_subscription(db, user_id, subscription, choice, None, schedule, now)
    return await find_subscription(db, user_id, subscription.id)


async def change_login(
    db: Database, user_id: int, subscription_id: int, http_options: str | None, now: datetime
) -> Subscription:
    """Changes how the feed is asked for. A shared feed is left to the others: this person gets one of their own."""
    subscription = await find_subscription(db, user_id, subscription_id)
    own_url = private_url(subscription.url, user_id)
    if subscription.is_private:
        await change_options(db, own_url, http_options)
    elif http_options is not None:
        own = NewFeed(own_url, subscription.feed_title, for_subscribers=True, http_options=http_options)
        await move_subscription(db, user_id, subscription, own, now)
    return await find_subscription(db, user_id, subscription_id)


async def unsubscribe(db: Database, user_id: int, subscription_id: int) -> None:
    """Ends the subscription; what the person starred, labelled or put off stays theirs."""
    await end_subscription(db, user_id, await find_subscription(db, user_id, subscription_id))


def _choice(subscription: Subscription) -> Choice:
    names = ("interval_seconds", "archive_policy", "paused")
    return Choice(subscription.own_title, **{name: getattr(subscription, name) for name in names})


async def _rescheduled(
    db: Database, rules: Rules, subscription: Subscription, choice: Choice, now: datetime
) -> Schedule | None:
    """When a feed that is well is due, now that the interval is another; None for one that has its own reasons."""
    [feed] = await feeds_of_ids(db, [subscription.feed_id])
    if feed.declared or feed.consecutive_failures or feed.last_fetched_at is None:
        return None
    others = await smallest_interval_of_others(db, feed.id, subscription.id)
    mine = None if choice.paused else choice.interval_seconds
    asked = [seconds for seconds in (mine, others) if seconds is not None]
    return next_fetch(feed, timedelta(seconds=min(asked)) if asked else None, feed.last_fetched_at, now, rules)


def next_fetch(feed: Feed, interval: timedelta | None, last: datetime, now: datetime, rules: Rules) -> Schedule:
    """The next fetch by this interval, counted from the last one."""
    kept = msgspec.json.decode(feed.wishes, type=KeptWishes) if feed.wishes else KeptWishes()
    hint = timedelta(seconds=kept.seconds) if kept.seconds else None
    wishes = Wishes(hint, kept.name, frozenset(kept.skip_hours), frozenset(kept.skip_days))
    schedule = cadence.after_success(last, Habit(feed.rhythm, feed.last_entry_at), interval, wishes, rules, 0)
    return Schedule(max(schedule.at or now, now), schedule.why)
