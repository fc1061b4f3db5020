"""Moves a subscription to another feed."""

from datetime import datetime

from sqlalchemy import bindparam, select

from feedmill.i18n.messages import message_to_stored
from feedmill.model.subscription import Subscription
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.entries.deferred_entries import newest_deferred
from feedmill.store.feeds.add_feeds import NewFeed, step_to_add_feeds
from feedmill.store.feeds.apply_subscriber_settings import steps_after_unsubscribe
from feedmill.store.schema import feeds, subscriptions
from feedmill.store.subscriptions.change_subscription import (
    SUBSCRIBED_REASON,
    step_to_lock_feed,
    step_to_set_http_options,
)
from feedmill.store.subscriptions.feed_settings import UPDATE_SETTINGS_FLAG_AT_URL
from feedmill.store.subscriptions.unread_entries import DROP_UNREAD, steps_to_fill_unread

_feed_of_url = select(feeds.c.id).where(feeds.c.url == bindparam("url")).scalar_subquery()
MOVE = (
    subscriptions.update()
    .where(subscriptions.c.id == bindparam("subscription_id"), subscriptions.c.user_id == bindparam("of_user"))
    .values(feed_id=_feed_of_url, unread_count=0, filled_to=newest_deferred(_feed_of_url))
)
WAKE_URL = (
    feeds.update()
    .where(feeds.c.url == bindparam("url"), feeds.c.next_fetch_at.is_(None), feeds.c.status != "disabled")
    .values(next_fetch_at=bindparam("at"), next_fetch_why=bindparam("why"))
)


async def move_subscription(
    db: Database, user_id: int, subscription: Subscription, feed: NewFeed, now: datetime, feed_id: int | None = None
) -> None:
    """Moves a subscription to another feed, which is due at once. Unread entries of the old feed are dropped.

    `feed_id` is given for an existing feed: its newest entries become unread.
    """
    # First and in this order, as a merge does: a refresh of the target must not store entries in between.
    locked = sorted({subscription.feed_id, feed_id or subscription.feed_id})
    one = {"subscription_id": subscription.id, "of_user": user_id, "url": feed.url}
    await db.batch(
        [
            *map(step_to_lock_feed, locked),
            step_to_add_feeds([feed], now, due_at=now),
            step_to_set_http_options({feed.url: feed.http_options}),
            Step(DROP_UNREAD, one),
            Step(MOVE, one),
            Step(UPDATE_SETTINGS_FLAG_AT_URL, one),
            *(steps_to_fill_unread(user_id, feed_id) if feed_id else ()),
            Step(WAKE_URL, one | {"at": to_iso(now), "why": message_to_stored(SUBSCRIBED_REASON)}),
            *steps_after_unsubscribe(subscription.feed_id),
        ]
    )
