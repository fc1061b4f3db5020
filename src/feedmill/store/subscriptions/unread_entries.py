"""Unread entries of a subscription: filled in when a user subscribes, dropped when the subscription ends."""

from collections.abc import Sequence

from sqlalchemy import Integer, and_, bindparam, exists, or_, select

from feedmill.model.filters.entry_filter import FilterAction
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, insert_selected, one_of
from feedmill.store.entries.unread_list_sql import UNREAD_LIST_ID, of_user, recount
from feedmill.store.schema import entries, feeds, filter_effects, states, subscriptions, unread, unread_lists

# How many entries of an existing feed become unread for a new subscriber.
NEWEST_UNREAD = 50

# A refresh updates the feed first. So either its entries are there already, or it will see the new subscriber.
LOCK_FEED = select(feeds.c.id).where(feeds.c.id == bindparam("feed_id")).with_for_update()
_newest = (
    select(entries.c.id, entries.c.sort_at)
    .where(entries.c.feed_id == bindparam("feed_id"))
    .order_by(entries.c.sort_at.desc(), entries.c.id.desc())
    .limit(bindparam("newest", type_=Integer))
    .subquery("newest")
)
_its_subscription = and_(of_user, subscriptions.c.feed_id == bindparam("feed_id"))
_has_read = and_(states.c.user_id == bindparam("of_user"), states.c.entry_id == _newest.c.id)
FILL = insert_selected(
    unread,
    select(
        UNREAD_LIST_ID.label("a"), _newest.c.sort_at.label("b"), _newest.c.id.label("c"), subscriptions.c.id.label("d")
    )
    .select_from(_newest.outerjoin(states, _has_read).join(subscriptions, _its_subscription))
    .where(states.c.read_at.is_(None), ~one_of(_newest.c.id, "blocked")),
)
_was_hidden = exists().where(
    filter_effects.c.user_id == bindparam("of_user"),
    filter_effects.c.action == FilterAction.HIDE,
    filter_effects.c.entry_id == _newest.c.id,
)
SETTLED = (
    select(_newest.c.id)
    .select_from(_newest.outerjoin(states, _has_read))
    .where(or_(states.c.read_at.is_not(None), _was_hidden))
)
RECOUNT_FEED = recount(subscriptions.c.feed_id == bindparam("feed_id"))

_the_subscription = and_(of_user, subscriptions.c.id == bindparam("subscription_id"))
LOCK_ONE = select(subscriptions.c.id).where(_the_subscription).with_for_update()
_lists = select(unread_lists.c.id).where(unread_lists.c.user_id == bindparam("of_user"))
_held = select(subscriptions.c.id).where(_the_subscription)
# Also from retired lists, which an undo may restore.
DROP_UNREAD = unread.delete().where(unread.c.list_id.in_(_lists), unread.c.subscription_id.in_(_held))
DROP = subscriptions.delete().where(_the_subscription)


async def find_settled_entries(db: Database, user_id: int, feed_id: int, newest: int) -> list[int]:
    """Those of the newest entries of a feed that the user read, or a filter hid, in an earlier subscription."""
    rows = await db.query(SETTLED, {"of_user": user_id, "feed_id": feed_id, "newest": newest})
    return [row["id"] for row in rows]


def steps_to_fill_unread(
    user_id: int, feed_id: int, newest: int = NEWEST_UNREAD, blocked: Sequence[int] = ()
) -> list[Step]:
    """Follow the step that subscribes a user: the feed's newest entries become unread, except `blocked`."""
    params = {"of_user": user_id, "feed_id": feed_id, "newest": newest, "blocked": as_list(list(blocked))}
    return [Step(LOCK_FEED, params), Step(FILL, params), Step(RECOUNT_FEED, params)]


def steps_to_drop_subscription(user_id: int, subscription_id: int) -> list[Step]:
    """Deletes a user's subscription and its unread entries; does nothing to a subscription of another user."""
    params = {"of_user": user_id, "subscription_id": subscription_id}
    return [Step(LOCK_ONE, params), Step(DROP_UNREAD, params), Step(DROP, params)]
