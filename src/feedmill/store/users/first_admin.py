"""Creates the first admin, subscribed to every feed that was collected before."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from sqlalchemy import bindparam, func, select

from feedmill.errors import AlreadySetUp, ConstraintViolated
from feedmill.model.timestamps import to_iso
from feedmill.model.user import Actor, User
from feedmill.store.admin.audit_log import audit_step
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import InsertNew, as_list, insert, one_of
from feedmill.store.schema import entries, facts, feeds, subscriptions, unread, users
from feedmill.store.users.users import count_users, steps_to_add_user, user_of_name

# The most feeds, and the most entries of them, that one batch makes unread.
FEEDS_PER_LOT, ENTRIES_PER_LOT = 200, 5000

# Not insert_new: a second admin must be refused, with the whole batch.
ONCE = insert(facts, "name", "value")
SUBSCRIBE = subscriptions.insert().from_select(
    ["user_id", "feed_id", "created_at"],
    select(users.c.id, feeds.c.id, bindparam("at")).where(users.c.name == bindparam("of_name")),
)
SUBSCRIBED = (
    select(feeds.c.id, feeds.c.entry_count)
    .select_from(subscriptions.join(feeds, feeds.c.id == subscriptions.c.feed_id))
    .where(subscriptions.c.user_id == bindparam("user_id"))
    .order_by(feeds.c.id)
)
_these = (subscriptions.c.user_id == bindparam("user_id"), one_of(subscriptions.c.feed_id, "feed_ids"))
# Locks the feeds and counts first, as a refresh does, so that each sees what the other wrote.
LOCK_FEEDS = feeds.update().where(one_of(feeds.c.id, "feed_ids")).values(fence=0)
LOCK_COUNTS = subscriptions.update().where(*_these).values(unread_count=0)
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


async def add_first_admin(db: Database, name: str, password_hash: str, now: datetime) -> User:
    """Creates the first admin, subscribed to every stored feed; raises `AlreadySetUp` if there is a user already."""
    at = to_iso(now)
    if await count_users(db):
        raise AlreadySetUp("there is an admin already: sign in")
    try:
        await db.batch(
            [
                Step(ONCE, {"name": "set_up_at", "value": at}),
                *steps_to_add_user(name, password_hash, True, now),
                Step(SUBSCRIBE, {"of_name": name, "at": at}),
                audit_step(Actor(), "user.set_up", name, now),
            ]
        )
    except ConstraintViolated as error:
        raise AlreadySetUp("there is an admin already: sign in") from error
    user = await user_of_name(db, name)
    if user is None:
        raise AssertionError(f"{name} was added and is not there")
    await _fill(db, user)
    return user


async def _fill(db: Database, user: User) -> None:
    """Makes every entry of the user's feeds unread."""
    for lot in _lots(await db.query(SUBSCRIBED, {"user_id": user.id})):
        these = {"user_id": user.id, "feed_ids": as_list(lot)}
        await db.batch([Step(LOCK_FEEDS, these), Step(LOCK_COUNTS, these), Step(FILL, these), Step(COUNT, these)])


def _lots(rows: Sequence[Row]) -> Iterator[list[int]]:
    lot: list[int] = []
    weight = 0
    for row in rows:
        if lot and (len(lot) == FEEDS_PER_LOT or weight + row["entry_count"] > ENTRIES_PER_LOT):
            yield lot
            lot, weight = [], 0
        lot.append(row["id"])
        weight += row["entry_count"]
    if lot:
        yield lot
