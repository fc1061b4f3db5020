"""Makes every entry of a user's subscriptions unread, in chunks."""

from collections.abc import Iterator, Sequence

from sqlalchemy import bindparam, func, select

from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import InsertNew, as_list, one_of
from feedmill.store.entries.deferred_entries import newest_deferred
from feedmill.store.schema import entries, feeds, subscriptions, unread, users

# The most feeds, and the most entries of them, that one batch makes unread.
FEEDS_PER_CHUNK = 200
ENTRIES_PER_CHUNK = 5000

SUBSCRIBED = (
    select(feeds.c.id, feeds.c.entry_count)
    .select_from(subscriptions.join(feeds, feeds.c.id == subscriptions.c.feed_id))
    .where(subscriptions.c.user_id == bindparam("user_id"))
    .order_by(feeds.c.id)
)
_these = (subscriptions.c.user_id == bindparam("user_id"), one_of(subscriptions.c.feed_id, "feed_ids"))
# Locks the feeds and counts first, as a refresh does, so that each sees what the other wrote.
LOCK_FEEDS = feeds.update().where(one_of(feeds.c.id, "feed_ids")).values(claim_check=0)
LOCK_COUNTS = (
    subscriptions.update().where(*_these).values(unread_count=0, filled_to=newest_deferred(subscriptions.c.feed_id))
)
FILL = InsertNew(unread).from_select(
    ["list_id", "sort_at", "entry_id", "subscription_id"],
    select(users.c.unread_list_id, entries.c.sort_at, entries.c.id, subscriptions.c.id)
    .select_from(
        subscriptions.join(users, users.c.id == subscriptions.c.user_id).join(
            entries, entries.c.feed_id == subscriptions.c.feed_id
        )
    )
    .where(*_these),
)
_list = select(users.c.unread_list_id).where(users.c.id == bindparam("user_id")).scalar_subquery()
COUNT = (
    subscriptions.update()
    .where(*_these)
    .values(
        unread_count=select(func.count())
        .select_from(unread)
        .where(unread.c.list_id == _list, unread.c.subscription_id == subscriptions.c.id)
        .scalar_subquery()
    )
)


async def fill_unread_list(db: Database, user_id: int) -> None:
    """Makes every entry of the user's feeds unread."""
    for chunk in _chunks(await db.query(SUBSCRIBED, {"user_id": user_id})):
        params = {"user_id": user_id, "feed_ids": as_list(chunk)}
        await db.batch([Step(LOCK_FEEDS, params), Step(LOCK_COUNTS, params), Step(FILL, params), Step(COUNT, params)])


def _chunks(rows: Sequence[Row]) -> Iterator[list[int]]:
    chunk: list[int] = []
    weight = 0
    for row in rows:
        if chunk and (len(chunk) == FEEDS_PER_CHUNK or weight + row["entry_count"] > ENTRIES_PER_CHUNK):
            yield chunk
            chunk, weight = [], 0
        chunk.append(row["id"])
        weight += row["entry_count"]
    if chunk:
        yield chunk
