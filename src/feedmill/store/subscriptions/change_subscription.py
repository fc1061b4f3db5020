"""Changes and ends a subscription and updates its feed in the same batch."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, bindparam, case, exists, func, select

from feedmill.model.encrypted import Encrypted
from feedmill.model.feed import PRIVATE_URL_MARKER
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.refresh import Schedule
from feedmill.model.subscription import Subscription
from feedmill.model.timestamps import iso_or_none, to_iso
from feedmill.model.translatable_text import text_to_stored
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, insert_selected, one_of
from feedmill.store.entries.unread_lists import LOCK_FEED, steps_to_drop_subscription
from feedmill.store.feeds.add_feeds import WAKE
from feedmill.store.schema import feeds, folder_subscriptions, folders, subscriptions
from feedmill.store.subscriptions.feed_settings import UPDATE_SETTINGS_FLAG as AGREE_ON_SETTINGS
from feedmill.store.subscriptions.feed_settings import steps_to_change_settings

SUBSCRIBED_REASON = "somebody subscribed to it"
NO_SUBSCRIBERS_REASON = "at rest: nobody subscribes to it any more"

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

# --- what the feed makes of it ----------------------------------------------------------------------------

_its_subscribers = subscriptions.c.feed_id == feeds.c.id
_is_wanted = exists().where(_its_subscribers, subscriptions.c.paused == 0)
_for_subscribers = (feeds.c.declared == 0, feeds.c.added_by_person == 0)


FORGET_PASSWORDS = (
    feeds.update()
    .where(
        feeds.c.url.like(f"%{PRIVATE_URL_MARKER}%"),
        feeds.c.http_options.is_not(None),
        ~exists().where(_its_subscribers),
    )
    .values(http_options=None)
)
FORGET_PASSWORD = FORGET_PASSWORDS.where(feeds.c.id == bindparam("feed"))


def _somebody_keeps(policy: str) -> ColumnElement[bool]:
    return exists().where(_its_subscribers, func.coalesce(subscriptions.c.archive_policy, "all") == policy)


_smallest = select(func.min(subscriptions.c.interval_seconds)).where(_its_subscribers, subscriptions.c.paused == 0)
_given = case((feeds.c.added_by_person == 1, feeds.c.interval_seconds))
# The smallest interval wins. What a file declares stays as it says; what a command gave stays until somebody asks.
APPLY_INTERVAL = (
    feeds.update()
    .where(feeds.c.id == bindparam("feed"), feeds.c.declared == 0)
    .values(interval_seconds=func.coalesce(_smallest.scalar_subquery(), _given))
)
APPLY_ARCHIVE_POLICY = (
    feeds.update()
    .where(feeds.c.id == bindparam("feed"), *_for_subscribers, exists().where(_its_subscribers))
    .values(archive_policy=case((_somebody_keeps("all"), "all"), (_somebody_keeps("starred"), "starred"), else_="none"))
)
RESCHEDULE = (
    feeds.update()
    .where(feeds.c.id == bindparam("feed"), feeds.c.next_fetch_at.is_not(None), feeds.c.consecutive_failures == 0)
    .values(next_fetch_at=bindparam("at"), next_fetch_why=bindparam("why"))
)
# The claim goes too: else a refresh that runs now would put a time there again.
REST_ALL = (
    feeds.update()
    .where(*_for_subscribers, ~_is_wanted, feeds.c.next_fetch_at.is_not(None))
    .values(next_fetch_at=None, next_fetch_why=bindparam("why"), claim_token=None, claimed_until=None)
)
REST = REST_ALL.where(feeds.c.id == bindparam("feed"))


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
    """Writes what the person chose. None leaves it filed as it is, or due as it is."""
    one = {"subscription": subscription.id, "of_user": user_id, "feed": subscription.feed_id}
    steps = [
        step_to_lock_feed(subscription.feed_id),
        *steps_to_change_settings(user_id, subscription.id, before, settings),
    ]
    if folder_ids is not None:
        steps += [Step(UNFILE, one), Step(FILE, one | {"folder_ids": as_list(list(folder_ids))})]
    steps += steps_to_apply_subscriber_options([subscription.feed_id])
    if schedule is not None:
        steps.append(Step(RESCHEDULE, one | {"at": iso_or_none(schedule.at), "why": text_to_stored(schedule.why)}))
    await db.batch([*steps, *_paused_or_resumed(subscription, settings, now)])


def _paused_or_resumed(subscription: Subscription, settings: FeedSettings, now: datetime) -> list[Step]:
    if settings.paused:
        return [Step(REST, {"feed": subscription.feed_id, "why": "at rest: all its subscribers have paused it"})]
    if subscription.paused:
        return [_wake(subscription.feed_id, now, "a subscriber resumed it")]
    return []


async def end_subscription(db: Database, user_id: int, subscription: Subscription) -> None:
    """Takes the subscription away with what is unread of it; what was starred, labelled or put off stays."""
    await db.batch(
        [
            step_to_lock_feed(subscription.feed_id),
            *steps_to_drop_subscription(user_id, subscription.id),
            *steps_after_unsubscribe(subscription.feed_id),
        ]
    )


async def change_http_options(db: Database, url: str, http_options: Encrypted | None) -> None:
    """Changes how the private feed at `url` is asked for."""
    await db.batch([Step(SET_HTTP_OPTIONS, {"of_url": url, "options": http_options and http_options.value})])


def steps_to_apply_subscriber_options(feed_ids: Sequence[int]) -> list[Step]:
    """What the subscribers of these feeds want, taken together."""
    each: list[dict[str, Any]] = [{"feed": feed_id} for feed_id in feed_ids]
    return [Step(APPLY_INTERVAL, each), Step(APPLY_ARCHIVE_POLICY, each), Step(AGREE_ON_SETTINGS, each)]


def steps_after_unsubscribe(feed_id: int) -> list[Step]:
    """What becomes of a feed that somebody has left."""
    feed = {"feed": feed_id}
    return [
        *steps_to_apply_subscriber_options([feed_id]),
        Step(REST, feed | {"why": NO_SUBSCRIBERS_REASON}),
        Step(FORGET_PASSWORD, feed),
    ]


def steps_to_rest_unwanted_feeds() -> list[Step]:
    """What becomes of the feeds of people who are gone."""
    return [Step(REST_ALL, {"why": NO_SUBSCRIBERS_REASON}), Step(FORGET_PASSWORDS)]


async def rest_unwanted_feeds(db: Database) -> None:
    """Feeds that were added for subscribers and have none rest, such as where another feed only seemed to move."""
    await db.batch(steps_to_rest_unwanted_feeds())


def step_to_lock_feed(feed_id: int) -> Step:
    return Step(LOCK_FEED, {"feed_id": feed_id})


def _wake(feed_id: int, now: datetime, why: str) -> Step:
    return Step(WAKE, {"ids": as_list([feed_id]), "at": to_iso(now), "why": why})
