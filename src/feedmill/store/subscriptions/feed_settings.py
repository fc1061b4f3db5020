"""What subscribers chose for their feeds: some in columns of their own, all else as JSON in `settings`.

A flag in the feed's row tells whether any subscriber has settings, so that a refresh of most feeds need not read them.
"""

from typing import Any, NamedTuple

import msgspec
from msgspec import structs
from sqlalchemy import ColumnElement, Update, bindparam, case, exists, select

from feedmill.model.feed_settings import COLUMN_SETTINGS, DEFAULT_FEED_SETTINGS, FEED_SETTINGS, FeedSettings
from feedmill.model.setting_definitions import SettingKind
from feedmill.store.database import Database, Row, Step
from feedmill.store.schema import feeds, subscriptions

_own_subscription = (subscriptions.c.id == bindparam("subscription"), subscriptions.c.user_id == bindparam("of_user"))
STORED_SETTINGS = (*COLUMN_SETTINGS, "settings")
OWN = select(*(subscriptions.c[name] for name in STORED_SETTINGS)).where(*_own_subscription)
OF_FEED = (
    select(subscriptions.c.id, subscriptions.c.user_id, subscriptions.c.settings)
    .where(subscriptions.c.feed_id == bindparam("feed"), subscriptions.c.paused == 0)
    .where(subscriptions.c.settings.is_not(None))
    .order_by(subscriptions.c.id)
)
RETENTION_PREFERENCES = (
    select(subscriptions.c.feed_id, subscriptions.c.settings, feeds.c.declared, feeds.c.added_by_person)
    .join(feeds, feeds.c.id == subscriptions.c.feed_id)
    .where(feeds.c.has_entry_settings == 1)
)
SET_COLUMNS = (
    subscriptions.update()
    .where(*_own_subscription)
    .values({name: bindparam(f"new_{name}") for name in COLUMN_SETTINGS})
)
SET = subscriptions.update().where(*_own_subscription).values(settings=bindparam("new_settings"))
_has_settings = exists().where(subscriptions.c.feed_id == feeds.c.id, subscriptions.c.settings.is_not(None))

_FLAGS = [name for name in COLUMN_SETTINGS if FEED_SETTINGS[name].kind is SettingKind.FLAG]
_COLUMN_DEFAULTS: dict[str, Any] = {name: getattr(DEFAULT_FEED_SETTINGS, name) for name in COLUMN_SETTINGS}


def _update_settings_flag(which: ColumnElement[bool]) -> Update:
    return feeds.update().where(which).values(has_entry_settings=case((_has_settings, 1), else_=0))


UPDATE_SETTINGS_FLAG = _update_settings_flag(feeds.c.id == bindparam("feed"))
UPDATE_SETTINGS_FLAG_AT_URL = _update_settings_flag(feeds.c.url == bindparam("url"))


class SubscriberSettings(NamedTuple):
    """The settings of one subscriber."""

    subscription_id: int
    user_id: int
    settings: FeedSettings


class RetentionPreference(NamedTuple):
    """For how long one subscriber keeps entries. `of_operator`: the operator added the feed as well."""

    feed_id: int
    days: int | None
    of_operator: bool


async def subscription_settings(db: Database, user_id: int, subscription_id: int) -> FeedSettings:
    rows = await db.query(OWN, {"subscription": subscription_id, "of_user": user_id})
    return _to_settings(rows[0]) if rows else DEFAULT_FEED_SETTINGS


async def settings_of_subscribers(db: Database, feed_id: int) -> list[SubscriberSettings]:
    """The settings of the subscribers who have any and have not paused the feed."""
    rows = await db.query(OF_FEED, {"feed": feed_id})
    return [SubscriberSettings(row["id"], row["user_id"], decode_settings(row["settings"])) for row in rows]


async def retention_preferences(db: Database) -> list[RetentionPreference]:
    """The preferences of all subscribers of feeds for which any subscriber has settings."""
    return [
        RetentionPreference(
            row["feed_id"],
            decode_settings(row["settings"]).retention_days,
            bool(row["declared"] or row["added_by_person"]),
        )
        for row in await db.query(RETENTION_PREFERENCES)
    ]


def steps_to_change_settings(
    user_id: int, subscription_id: int, before: FeedSettings, after: FeedSettings
) -> list[Step]:
    """The columns are always written, the JSON only if it changed. The same batch must update the feed's flag."""
    chosen = {f"new_{name}": value for name, value in settings_columns(after).items()}
    own = {"subscription": subscription_id, "of_user": user_id} | chosen
    changes_json = encode_settings(before) != encode_settings(after)
    return [Step(SET_COLUMNS, own), *([Step(SET, own)] if changes_json else [])]


def encode_settings(settings: FeedSettings) -> str | None:
    """The settings without a column of their own, as JSON; None if all of them are the default."""
    rest = structs.replace(settings, **_COLUMN_DEFAULTS)
    return None if rest == DEFAULT_FEED_SETTINGS else msgspec.json.encode(rest).decode()


def decode_settings(kept: str | None) -> FeedSettings:
    """What `encode_settings` made; the settings with a column of their own are the default."""
    return msgspec.json.decode(kept, type=FeedSettings) if kept else DEFAULT_FEED_SETTINGS


def settings_columns(settings: FeedSettings) -> dict[str, Any]:
    """The settings as columns of `subscriptions`."""
    own = {name: getattr(settings, name) for name in COLUMN_SETTINGS}
    flags = {name: int(own[name]) for name in _FLAGS}
    return own | flags | {"settings": encode_settings(settings)}


def _to_settings(row: Row) -> FeedSettings:
    own: dict[str, Any] = {name: row[name] for name in COLUMN_SETTINGS}
    flags = {name: bool(own[name]) for name in _FLAGS}
    return structs.replace(decode_settings(row["settings"]), **own | flags)
