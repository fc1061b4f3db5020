"""What people want done with the entries of their feeds, as it stands in the rows of their subscriptions.

The feed's row has a flag that says whether anybody wants anything, so that a refresh of most feeds need not ask.
"""

from typing import NamedTuple

import msgspec
from sqlalchemy import ColumnElement, Update, bindparam, case, exists, select

from feedmill.model.feed_settings import NO_SETTINGS, FeedSettings
from feedmill.store.database import Database, Step
from feedmill.store.schema import feeds, subscriptions

_hers = (subscriptions.c.id == bindparam("subscription"), subscriptions.c.user_id == bindparam("of_user"))
OWN = select(subscriptions.c.settings).where(*_hers)
OF_FEED = (
    select(subscriptions.c.id, subscriptions.c.user_id, subscriptions.c.settings)
    .where(subscriptions.c.feed_id == bindparam("feed"), subscriptions.c.paused == 0)
    .where(subscriptions.c.settings.is_not(None))
    .order_by(subscriptions.c.id)
)
WISHES = (
    select(subscriptions.c.feed_id, subscriptions.c.settings, feeds.c.declared, feeds.c.added_by_person)
    .join(feeds, feeds.c.id == subscriptions.c.feed_id)
    .where(feeds.c.tailored == 1)
)
SET = subscriptions.update().where(*_hers).values(settings=bindparam("new_settings"))
_somebody = exists().where(subscriptions.c.feed_id == feeds.c.id, subscriptions.c.settings.is_not(None))


def _agree(which: ColumnElement[bool]) -> Update:
    return feeds.update().where(which).values(tailored=case((_somebody, 1), else_=0))


AGREE = _agree(feeds.c.id == bindparam("feed"))
AGREE_AT_URL = _agree(feeds.c.url == bindparam("url"))


class Wanted(NamedTuple):
    """What one subscriber wants."""

    subscription_id: int
    user_id: int
    settings: FeedSettings


class Wish(NamedTuple):
    """For how long one subscriber wants entries kept. `of_operator`: the operator wants the feed as well."""

    feed_id: int
    days: int | None
    of_operator: bool


async def settings_of(db: Database, user_id: int, subscription_id: int) -> FeedSettings:
    rows = await db.query(OWN, {"subscription": subscription_id, "of_user": user_id})
    return decoded(rows[0]["settings"]) if rows else NO_SETTINGS


async def wanted_of(db: Database, feed_id: int) -> list[Wanted]:
    """What the subscribers who have not paused the feed want done with its new entries."""
    rows = await db.query(OF_FEED, {"feed": feed_id})
    return [Wanted(row["id"], row["user_id"], decoded(row["settings"])) for row in rows]


async def retention_wishes(db: Database) -> list[Wish]:
    """The wishes of all subscribers of the feeds that anybody has settings for."""
    return [
        Wish(row["feed_id"], decoded(row["settings"]).retention_days, bool(row["declared"] or row["added_by_person"]))
        for row in await db.query(WISHES)
    ]


def set_settings(user_id: int, subscription_id: int, settings: FeedSettings) -> Step:
    """The feed is to agree on it in the same batch."""
    return Step(SET, {"subscription": subscription_id, "of_user": user_id, "new_settings": encoded(settings)})


def encoded(settings: FeedSettings) -> str | None:
    """As the row keeps it: nothing for what is usual."""
    return None if settings == NO_SETTINGS else msgspec.json.encode(settings).decode()


def decoded(kept: str | None) -> FeedSettings:
    return msgspec.json.decode(kept, type=FeedSettings) if kept else NO_SETTINGS
