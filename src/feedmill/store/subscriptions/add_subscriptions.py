"""Adds subscriptions together with new feeds, and moves a subscription to another feed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

from sqlalchemy import bindparam, select

from feedmill.i18n.messages import message_to_stored
from feedmill.model.feed import PRIVATE_URL_MARKER
from feedmill.model.feed_settings import DEFAULT_FEED_SETTINGS, FeedSettings
from feedmill.model.subscription import Subscription
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, insert_new, insert_selected, one_of
from feedmill.store.entries.unread_lists import DROP_UNREAD, steps_to_fill_unread
from feedmill.store.feeds.add_feeds import ADD as ADD_FEED
from feedmill.store.feeds.add_feeds import NEW_FEED, WAKE, NewFeed, feed_values
from feedmill.store.feeds.apply_subscriber_settings import steps_after_unsubscribe, steps_to_apply_subscriber_options
from feedmill.store.schema import feeds, folder_subscriptions, folders, subscriptions
from feedmill.store.subscriptions.change_subscription import SET_HTTP_OPTIONS, SUBSCRIBED_REASON, step_to_lock_feed
from feedmill.store.subscriptions.feed_settings import STORED_SETTINGS, UPDATE_SETTINGS_FLAG_AT_URL, settings_columns

_feed_of_url = select(feeds.c.id).where(feeds.c.url == bindparam("url")).scalar_subquery()
ADD = insert_new(subscriptions, "user_id", *STORED_SETTINGS, "created_at").values(feed_id=_feed_of_url)
FILE = insert_selected(
    folder_subscriptions,
    select(folders.c.id.label("a"), subscriptions.c.id.label("b")).where(
        folders.c.user_id == bindparam("user_id"),
        one_of(folders.c.id, "folder_ids"),
        subscriptions.c.user_id == bindparam("user_id"),
        subscriptions.c.feed_id == _feed_of_url,
    ),
)
WAKE_URL = (
    feeds.update()
    .where(feeds.c.url == bindparam("url"), feeds.c.next_fetch_at.is_(None), feeds.c.status != "disabled")
    .values(next_fetch_at=bindparam("at"), next_fetch_why=bindparam("why"))
)
MOVE = (
    subscriptions.update()
    .where(subscriptions.c.id == bindparam("subscription_id"), subscriptions.c.user_id == bindparam("of_user"))
    .values(feed_id=_feed_of_url, unread_count=0)
)


@dataclass(frozen=True, slots=True)
class NewSubscription:
    """`feed_id` is None for a new feed, which is added too. `blocked` entries do not become unread."""

    feed: NewFeed
    feed_id: int | None = None
    settings: FeedSettings = DEFAULT_FEED_SETTINGS
    folder_ids: tuple[int, ...] = ()
    blocked: tuple[int, ...] = ()

    @property
    def asks_something(self) -> bool:
        """Whether the subscriber chose options that change the feed."""
        return self.settings.interval_seconds is not None or self.settings.archive_policy is not None


async def add_subscriptions(
    db: Database, user_id: int, new: Sequence[NewSubscription], now: datetime, due_at: datetime
) -> None:
    """Adds these in one batch, new feeds due at `due_at`; existing subscriptions and feeds stay as they are."""
    known = [one for one in new if one.feed_id is not None]
    rows = [_row(user_id, one, to_iso(now)) for one in new]
    ids = as_list([one.feed_id for one in known if one.feed_id])
    hold, fill = _fill(user_id, known)
    await db.batch(
        [
            *hold,
            Step(ADD_FEED, _new_feeds(new, now, due_at)),
            Step(ADD, rows),
            Step(FILE, [row for row in rows if row["folder_ids"] != "[]"]),
            Step(UPDATE_SETTINGS_FLAG_AT_URL, [row for row in rows if row["settings"]]),
            Step(SET_HTTP_OPTIONS, [_options(one.feed) for one in new if PRIVATE_URL_MARKER in one.feed.url]),
            Step(WAKE, {"ids": ids, "at": to_iso(now), "why": message_to_stored(SUBSCRIBED_REASON)}),
            *fill,
            *steps_to_apply_subscriber_options([one.feed_id for one in known if one.feed_id and one.asks_something]),
        ]
    )


async def move_subscription(
    db: Database, user_id: int, subscription: Subscription, feed: NewFeed, now: datetime, feed_id: int | None = None
) -> None:
    """Moves a subscription to another feed, which is due at once. Unread entries of the old feed are dropped.

    `feed_id` is given for an existing feed: its newest entries become unread.
    """
    one = {"subscription_id": subscription.id, "of_user": user_id, "url": feed.url}
    await db.batch(
        [
            step_to_lock_feed(subscription.feed_id),
            Step(ADD_FEED, _new_feeds([NewSubscription(feed)], now, now)),
            Step(SET_HTTP_OPTIONS, _options(feed)),
            Step(DROP_UNREAD, one),
            Step(MOVE, one),
            Step(UPDATE_SETTINGS_FLAG_AT_URL, one),
            *(steps_to_fill_unread(user_id, feed_id) if feed_id else ()),
            Step(WAKE_URL, one | {"at": to_iso(now), "why": message_to_stored(SUBSCRIBED_REASON)}),
            *steps_after_unsubscribe(subscription.feed_id),
        ]
    )


def _fill(user_id: int, known: Sequence[NewSubscription]) -> tuple[list[Step], list[Step]]:
    """The steps that lock existing feeds, and those that make their newest entries unread."""
    steps = [steps_to_fill_unread(user_id, one.feed_id, blocked=one.blocked) for one in known if one.feed_id]
    return [first for first, *_ in steps], list(chain.from_iterable(rest for _, *rest in steps))


def _new_feeds(new: Sequence[NewSubscription], now: datetime, due_at: datetime) -> list[dict[str, Any]]:
    same = {"next_fetch_at": to_iso(due_at), "next_fetch_why": message_to_stored(NEW_FEED), "created_at": to_iso(now)}
    return [feed_values(one.feed) | same for one in new if one.feed_id is None]


def _row(user_id: int, one: NewSubscription, at: str) -> dict[str, Any]:
    filed = as_list(list(one.folder_ids))
    return settings_columns(one.settings) | {
        "user_id": user_id,
        "url": one.feed.url,
        "created_at": at,
        "folder_ids": filed,
    }


def _options(feed: NewFeed) -> dict[str, Any]:
    return {"of_url": feed.url, "options": feed.http_options and feed.http_options.value}
