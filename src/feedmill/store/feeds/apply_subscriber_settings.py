"""Derives a feed's interval, archive policy and schedule from its subscribers; a feed without any rests."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, bindparam, case, exists, func, select

from feedmill.i18n.messages import Message, message_to_stored
from feedmill.model.feed import PRIVATE_URL_MARKER
from feedmill.store.database import Database, Step
from feedmill.store.schema import feeds, subscriptions
from feedmill.store.subscriptions.feed_settings import UPDATE_SETTINGS_FLAG

NO_SUBSCRIBERS_REASON = Message("schedule.no_subscribers")

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
# The smallest interval counts. A declared interval stays; one that a command set stays until a subscriber chooses one.
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
# The claim is dropped too: otherwise a running refresh would set a time again.
REST_ALL = (
    feeds.update()
    .where(*_for_subscribers, ~_is_wanted, feeds.c.next_fetch_at.is_not(None))
    .values(next_fetch_at=None, next_fetch_why=bindparam("why"), claim_token=None, claimed_until=None)
)
REST = REST_ALL.where(feeds.c.id == bindparam("feed"))


def steps_to_apply_subscriber_options(feed_ids: Sequence[int]) -> list[Step]:
    """Applies the combined options of the subscribers of these feeds."""
    each: list[dict[str, Any]] = [{"feed": feed_id} for feed_id in feed_ids]
    return [Step(APPLY_INTERVAL, each), Step(APPLY_ARCHIVE_POLICY, each), Step(UPDATE_SETTINGS_FLAG, each)]


def steps_after_unsubscribe(feed_id: int) -> list[Step]:
    """Updates a feed after a user has unsubscribed."""
    feed = {"feed": feed_id}
    return [
        *steps_to_apply_subscriber_options([feed_id]),
        Step(REST, feed | {"why": message_to_stored(NO_SUBSCRIBERS_REASON)}),
        Step(FORGET_PASSWORD, feed),
    ]


def steps_to_rest_unwanted_feeds() -> list[Step]:
    """Updates the feeds of users who were deleted."""
    return [Step(REST_ALL, {"why": message_to_stored(NO_SUBSCRIBERS_REASON)}), Step(FORGET_PASSWORDS)]


async def rest_unwanted_feeds(db: Database) -> None:
    """Puts feeds to rest that were added for subscribers and have none, such as targets of a redirect that ended."""
    await db.batch(steps_to_rest_unwanted_feeds())
