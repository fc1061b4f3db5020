"""Changes and ends a subscription and updates its feed in the same batch."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import bindparam, select

from feedmill.i18n.messages import Message, message_to_stored
from feedmill.model.encrypted import Encrypted
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.refresh import Schedule
from feedmill.model.subscription import Subscription
from feedmill.model.timestamps import iso_or_none, to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, insert_selected, one_of
from feedmill.store.entries.deferred_entries import newest_deferred
from feedmill.store.feeds.add_feeds import WAKE
from feedmill.store.feeds.apply_subscriber_settings import (
    RESCHEDULE,
    REST,
    steps_after_unsubscribe,
    steps_to_apply_subscriber_options,
)
from feedmill.store.schema import feeds, folder_subscriptions, folders, subscriptions
from feedmill.store.subscriptions.feed_settings import steps_to_change_settings
from feedmill.store.subscriptions.unread_entries import LOCK_FEED, steps_to_drop_subscription

SUBSCRIBED_REASON = Message("schedule.subscribed")

UNFILE = folder_subscriptions.delete().where(folder_subscriptions.c.subscription_id == bindparam("subscription"))
FILE = insert_selected(
    folder_subscriptions,
    select(folders.c.id.label("a"), subscriptions.c.id.label("b")).where(
        folders.c.user_id == bindparam("of_user"),
        one_of(folders.c.id, "folder_ids"),
        subscriptions.c.user_id == bindparam("of_user"),
        subscriptions.c.id == bindparam("subscription"),
    ),
)
SET_HTTP_OPTIONS = feeds.update().where(feeds.c.url == bindparam("of_url")).values(http_options=bindparam("options"))

# What was deferred while a subscription was paused is not added when it resumes.
SKIP_WHILE_PAUSED = (
    subscriptions.update()
    .where(
        subscriptions.c.id == bindparam("subscription"),
        subscriptions.c.user_id == bindparam("of_user"),
        subscriptions.c.paused == 1,
    )
    .values(filled_to=newest_deferred(subscriptions.c.feed_id))
)


async def change_subscription(
    db: Database,
    user_id: int,
    subscription: Subscription,
    before: FeedSettings,
    settings: FeedSettings,
    folder_ids: Sequence[int] | None,
    schedule: Schedule | None,
    now: datetime,
) -> None:
    """Writes the settings of a subscriber. `folder_ids` or `schedule` None: unchanged."""
    one = {"subscription": subscription.id, "of_user": user_id, "feed": subscription.feed_id}
    steps = [
        step_to_lock_feed(subscription.feed_id),
        Step(SKIP_WHILE_PAUSED, one),
        *steps_to_change_settings(user_id, subscription.id, before, settings),
    ]
    if folder_ids is not None:
        steps += [Step(UNFILE, one), Step(FILE, one | {"folder_ids": as_list(list(folder_ids))})]
    steps += steps_to_apply_subscriber_options([subscription.feed_id])
    if schedule is not None:
        steps.append(Step(RESCHEDULE, one | {"at": iso_or_none(schedule.at), "why": message_to_stored(schedule.why)}))
    await db.batch([*steps, *_paused_or_resumed(subscription, settings, now)])


def _paused_or_resumed(subscription: Subscription, settings: FeedSettings, now: datetime) -> list[Step]:
    if settings.paused:
        return [Step(REST, {"feed": subscription.feed_id, "why": message_to_stored(Message("schedule.all_paused"))})]
    if subscription.paused:
        return [_wake(subscription.feed_id, now, Message("schedule.resumed"))]
    return []


async def end_subscription(db: Database, user_id: int, subscription: Subscription) -> None:
    """Deletes the subscription and its unread entries; starred, labelled and read-later entries stay."""
    await db.batch(
        [
            step_to_lock_feed(subscription.feed_id),
            *steps_to_drop_subscription(user_id, subscription.id),
            *steps_after_unsubscribe(subscription.feed_id),
        ]
    )


async def change_http_options(db: Database, url: str, http_options: Encrypted | None) -> None:
    """Changes the HTTP options of the private feed at `url`."""
    await db.batch([step_to_set_http_options({url: http_options})])


def step_to_set_http_options(by_url: Mapping[str, Encrypted | None]) -> Step:
    rows = [{"of_url": url, "options": options and options.value} for url, options in by_url.items()]
    return Step(SET_HTTP_OPTIONS, rows)


def step_to_lock_feed(feed_id: int) -> Step:
    return Step(LOCK_FEED, {"feed_id": feed_id})


def _wake(feed_id: int, now: datetime, why: Message) -> Step:
    return Step(WAKE, {"ids": as_list([feed_id]), "at": to_iso(now), "why": message_to_stored(why)})
