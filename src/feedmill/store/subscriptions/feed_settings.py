"""Settings of subscriptions: filters, labels, full text, retention, notifications.

The feed's row has a flag that says whether anybody wants anything, so that a refresh of most feeds need not ask.
"""

from typing import NamedTuple

import msgspec
from sqlalchemy import ColumnElement, Update, bindparam, case, exists, select

from feedmill.model.feed_settings import DEFAULT_FEED_SETTINGS, FeedSettings
from feedmill.store.database import Database, Step
from feedmill.store.schema import feeds, subscriptions

_own_subscription = (subscriptions.c.id == bindparam("subscription"), subscriptions.c.user_id == bindparam("of_user"))
OWN = select(subscriptions.c.settings).where(*_own_subscription)
OF_FEED = (
    select(subscriptions.c.id, subscriptions.c.user_id, subscriptions.c.settings)
    .where(subscriptions.c.feed_id == bindparam("feed"), subscriptions.c.paused == 0)
    .where(subscriptions.c.settings.is_not(None))
    .order_by(subscriptions.c.id)
)
RETENTION_PREFERENCES = (
    select(subscriptions.c.feed_id, subscriptions.c.settings, feeds.c.declared, feeds.c.added_by_person)
    .join(feeds, feeds.c.id == subscriptions.c.feed_id)
    .where(feeds.c.tailored == 1)
)
SET = subscriptions.update().where(*_own_subscription).values(settings=bindparam("new_settings"))
_has_settings = exists().where(subscriptions.c.feed_id == feeds.c.id, subscriptions.c.settings.is_not(None))


def _update_settings_flag(which: ColumnElement[bool]) -> Update:
    return feeds.update().where(which).values(tailored=case((_has_settings, 1), else_=0))


UPDATE_SETTINGS_FLAG = _update_settings_flag(feeds.c.id == bindparam("feed"))
UPDATE_SETTINGS_FLAG_AT_URL = _update_settings_flag(feeds.c.url == bindparam("url"))


class SubscriberSettings(NamedTuple):
    """What one subscriber wants."""

    subscription_id: int
    user_id: int
    settings: FeedSettings


class RetentionPreference(NamedTuple):
    """For how long one subscriber wants entries kept. `of_operator`: the operator wants the feed as well."""

    feed_id: int
    days: int | None
    of_operator: bool


async def subscription_settings(db: Database, user_id: int, subscription_id: int) -> FeedSettings:
    rows = await db.query(OWN, {"subscription": subscription_id, "of_user": user_id})
    return decode_settings(rows[0]["settings"]) if rows else DEFAULT_FEED_SETTINGS


async def settings_of_subscribers(db: Database, feed_id: int) -> list[SubscriberSettings]:
    """What the subscribers who have not paused the feed want done with its new entries."""
    rows = await db.query(OF_FEED, {"feed": feed_id})
    return [SubscriberSettings(row["id"], row["user_id"], decode_settings(row["settings"])) for row in rows]


async def retention_preferences(db: Database) -> list[RetentionPreference]:
    """The wishes of all subscribers of the feeds that anybody has settings for."""
    return [
        RetentionPreference(
            row["feed_id"],
            decode_settings(row["settings"]).retention_days,
            bool(row["declared"] or row["added_by_person"]),
        )
        for row in await db.query(RETENTION_PREFERENCES)
    ]


def step_to_set_subscription_settings(user_id: int, subscription_id: int, settings: FeedSettings) -> Step:
    """The feed is to agree on it in the same batch."""
    return Step(SET, {"subscription": subscription_id, "of_user": user_id, "new_settings": encode_settings(settings)})


def encode_settings(settings: FeedSettings) -> str | None:
    """As the row keeps it: nothing for what is usual."""
    return None if settings == DEFAULT_FEED_SETTINGS else msgspec.json.encode(settings).decode()


def decode_settings(kept: str | None) -> FeedSettings:
    return msgspec.json.decode(kept, type=FeedSettings) if kept else DEFAULT_FEED_SETTINGS
