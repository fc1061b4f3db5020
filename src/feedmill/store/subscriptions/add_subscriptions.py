"""Adds subscriptions together with new feeds."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

from sqlalchemy import bindparam, select

from feedmill.i18n.messages import message_to_stored
from feedmill.model.feed import PRIVATE_URL_MARKER
from feedmill.model.feed_settings import DEFAULT_FEED_SETTINGS, FeedSettings
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, insert_new, insert_selected, one_of
from feedmill.store.entries.deferred_entries import newest_deferred
from feedmill.store.feeds.add_feeds import WAKE, NewFeed, step_to_add_feeds
from feedmill.store.feeds.apply_subscriber_settings import steps_to_apply_subscriber_options
from feedmill.store.schema import feeds, folder_subscriptions, folders, subscriptions
from feedmill.store.subscriptions.change_subscription import SUBSCRIBED_REASON, step_to_set_http_options
from feedmill.store.subscriptions.feed_settings import STORED_SETTINGS, UPDATE_SETTINGS_FLAG_AT_URL, settings_columns
from feedmill.store.subscriptions.unread_entries import steps_to_fill_unread

_feed_of_url = select(feeds.c.id).where(feeds.c.url == bindparam("url")).scalar_subquery()
ADD = insert_new(subscriptions, "user_id", *STORED_SETTINGS, "created_at").values(
    feed_id=_feed_of_url, filled_to=newest_deferred(_feed_of_url)
)
FILE = insert_selected(
    folder_subscriptions,
    select(folders.c.id.label("a"), subscriptions.c.id.label("b")).where(
        folders.c.user_id == bindparam("user_id"),
        one_of(folders.c.id, "folder_ids"),
        subscriptions.c.user_id == bindparam("user_id"),
        subscriptions.c.feed_id == _feed_of_url,
    ),
)


@dataclass(frozen=True, slots=True)
class NewSubscription:
    """`feed_id` is None for a new feed, which is added too. `blocked` entries do not become unread.

    `filter_steps` follow when the others have.
    """

    feed: NewFeed
    feed_id: int | None = None
    settings: FeedSettings = DEFAULT_FEED_SETTINGS
    folder_ids: tuple[int, ...] = ()
    blocked: tuple[int, ...] = ()
    filter_steps: Sequence[Step] = ()

    @property
    def asks_something(self) -> bool:
        """Whether the subscriber chose options that affect the feed."""
        return self.settings.interval_seconds is not None or self.settings.archive_policy is not None


async def add_subscriptions(
    db: Database, user_id: int, new: Sequence[NewSubscription], now: datetime, due_at: datetime
) -> None:
    """Adds these in one batch, new feeds due at `due_at`; existing subscriptions and feeds stay as they are."""
    known = [one for one in new if one.feed_id is not None]
    rows = [_row(user_id, one, to_iso(now)) for one in new]
    ids = as_list([one.feed_id for one in known if one.feed_id])
    private = {one.feed.url: one.feed.http_options for one in new if PRIVATE_URL_MARKER in one.feed.url}
    lock, fill = _fill(user_id, known)
    await db.batch(
        [
            *lock,
            step_to_add_feeds([one.feed for one in new if one.feed_id is None], now, due_at),
            Step(ADD, rows),
            Step(FILE, [row for row in rows if row["folder_ids"] != "[]"]),
            Step(UPDATE_SETTINGS_FLAG_AT_URL, [row for row in rows if row["settings"]]),
            step_to_set_http_options(private),
            Step(WAKE, {"ids": ids, "at": to_iso(now), "why": message_to_stored(SUBSCRIBED_REASON)}),
            *fill,
            *(step for one in known for step in one.filter_steps),
            *steps_to_apply_subscriber_options([one.feed_id for one in known if one.feed_id and one.asks_something]),
        ]
    )


def _fill(user_id: int, known: Sequence[NewSubscription]) -> tuple[list[Step], list[Step]]:
    """The steps that lock existing feeds, and those that make their newest entries unread."""
    steps = [steps_to_fill_unread(user_id, one.feed_id, blocked=one.blocked) for one in known if one.feed_id]
    return [lock for lock, *_ in steps], list(chain.from_iterable(fill for _, *fill in steps))


def _row(user_id: int, one: NewSubscription, at: str) -> dict[str, Any]:
    filed = as_list(list(one.folder_ids))
    return settings_columns(one.settings) | {
        "user_id": user_id,
        "url": one.feed.url,
        "created_at": at,
        "folder_ids": filed,
    }
