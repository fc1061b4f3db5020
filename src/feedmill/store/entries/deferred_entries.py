"""Defers the unread rows of popular feeds: a refresh notes their new entries once, not once for each subscriber.

The rows of a subscriber are added when they next read (`fill_deferred_entries.py`): those of the deferred entries after
`subscriptions.filled_to`. The refreshes of a feed come one after the other, so the ids of its entries grow in the order
in which they are stored. Whether a feed is popular is decided anew by each refresh.
"""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Integer, ScalarSelect, and_, bindparam, func, select

from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, insert_new, insert_selected, one_of
from feedmill.store.schema import deferred_entries, entries, popular_feeds, subscriptions

# The most subscribers for each of whom a refresh writes rows.
POPULAR_ABOVE = 500

_subscribers = select(subscriptions.c.id).where(subscriptions.c.feed_id == bindparam("feed_id"))
COUNT_SUBSCRIBERS = select(func.count().label("n")).select_from(
    _subscribers.limit(bindparam("most", type_=Integer)).subquery("subscribers")
)
DEFER = insert_selected(
    deferred_entries,
    select(entries.c.id, entries.c.feed_id).where(
        entries.c.feed_id == bindparam("feed_id"),
        one_of(entries.c.guid, "guids"),
        entries.c.refresh_token == bindparam("token"),
    ),
)
ADD_POPULAR = insert_new(popular_feeds, "feed_id")
_newest = select(func.max(deferred_entries.c.entry_id)).where(deferred_entries.c.feed_id == bindparam("of_feed"))
NOTE_NEWEST = (
    popular_feeds.update()
    .where(popular_feeds.c.feed_id == bindparam("of_feed"))
    .values(newest_id=func.coalesce(_newest.scalar_subquery(), popular_feeds.c.newest_id))
)

filling = subscriptions.alias("filling")
with_popular_feed = popular_feeds.join(filling, filling.c.feed_id == popular_feeds.c.feed_id)
may_lack_rows = and_(
    filling.c.user_id == bindparam("of_user"), filling.c.paused == 0, filling.c.filled_to < popular_feeds.c.newest_id
)
"""Whether a subscription of the user lacks unread rows, except if the entries are gone."""
lacks_row = and_(
    deferred_entries.c.feed_id == filling.c.feed_id,
    deferred_entries.c.entry_id > filling.c.filled_to,
    deferred_entries.c.entry_id <= popular_feeds.c.newest_id,
)
OLDEST_LACKING = (
    select(func.min(deferred_entries.c.entry_id))
    .select_from(with_popular_feed.join(deferred_entries, lacks_row))
    .where(may_lack_rows)
    .scalar_subquery()
)
"""The smallest id of the user's entries that are still to be added to their unread list."""


def newest_deferred(feed_id: ColumnElement[int]) -> ColumnElement[int]:
    """The `filled_to` of a subscription to which nothing before now is to be added."""
    newest: ScalarSelect[int] = (
        select(popular_feeds.c.newest_id).where(popular_feeds.c.feed_id == feed_id).scalar_subquery()
    )
    return func.coalesce(newest, 0)


async def is_popular(db: Database, feed_id: int) -> bool:
    """Whether the feed has so many subscribers that a refresh defers its unread rows."""
    [row] = await db.query(COUNT_SUBSCRIBERS, {"feed_id": feed_id, "most": POPULAR_ABOVE + 1})
    return int(row["n"]) > POPULAR_ABOVE


def steps_to_defer(feed_id: int, token: str, guids: Sequence[str]) -> list[Step]:
    """Follow the step that stores these new entries of the refresh with this token."""
    params = {"feed_id": feed_id, "of_feed": feed_id, "token": token, "guids": as_list(list(guids))}
    return [Step(DEFER, params), Step(ADD_POPULAR, params), Step(NOTE_NEWEST, params)]
