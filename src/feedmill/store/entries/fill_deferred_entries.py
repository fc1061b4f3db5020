"""Adds the deferred entries of popular feeds to unread lists: for a user who reads, or for subscribers of one feed.

Whoever reads or changes the unread entries of a user calls `fill_deferred` first, or a request `fill_first_deferred`;
`tests/architecture/test_unread_readers.py` names the callers. The subscriptions are locked first, and each says how far
it was filled: of two processes that fill the same list, the second adds nothing. A process fills a list once at a time.
"""

import asyncio
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any

from sqlalchemy import Column, FromClause, Integer, and_, bindparam, exists, func, select
from sqlalchemy.sql import Executable

from feedmill.errors import DatabaseError
from feedmill.lazy_loggers import get_logger
from feedmill.store.columns import Id
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import as_list, insert_selected, one_of
from feedmill.store.entries.deferred_entries import (
    filling,
    lacks_row,
    may_lack_rows,
    newest_deferred,
    with_popular_feed,
)
from feedmill.store.json_rows import as_rows, json_rows
from feedmill.store.schema import deferred_entries, entries, popular_feeds, states, subscriptions, unread, users

log = get_logger(__name__)

# The most rows that one batch adds.
CHUNK_SIZE = 10_000

LACKING = (
    select(filling.c.id, filling.c.feed_id, popular_feeds.c.newest_id)
    .select_from(with_popular_feed)
    .where(may_lack_rows)
    .order_by(filling.c.id)
)
END_OF_CHUNK = (
    select(deferred_entries.c.entry_id)
    .select_from(with_popular_feed.join(deferred_entries, lacks_row))
    .where(may_lack_rows)
    .order_by(deferred_entries.c.entry_id)
    .limit(1)
    .offset(bindparam("skipped", type_=Integer))
)


def _statements_to_add(targets: FromClause) -> tuple[Executable, Executable]:
    """Counts and adds the missing rows of subscriptions, each up to an entry; `targets` has both ids, and the feed.

    A subscription that has moved to another feed meanwhile is left alone: the entry is not one of that feed.
    A row can be there already, and an entry can be read, if the user marked it before the list was filled.
    """
    is_there = and_(
        unread.c.list_id == users.c.unread_list_id,
        unread.c.sort_at == entries.c.sort_at,
        unread.c.entry_id == entries.c.id,
    )
    is_read = exists().where(
        states.c.user_id == users.c.id, states.c.entry_id == entries.c.id, states.c.read_at.is_not(None)
    )
    lacking = and_(
        deferred_entries.c.feed_id == filling.c.feed_id,
        deferred_entries.c.entry_id > filling.c.filled_to,
        deferred_entries.c.entry_id <= targets.c.up_to,
    )
    source = (
        targets.join(filling, and_(filling.c.id == targets.c.subscription_id, filling.c.feed_id == targets.c.feed_id))
        .join(users, users.c.id == filling.c.user_id)
        .join(deferred_entries, lacking)
        .join(entries, entries.c.id == deferred_entries.c.entry_id)
        .outerjoin(unread, is_there)
    )
    which = (filling.c.paused == 0, unread.c.entry_id.is_(None), ~is_read)
    coming = (
        select(filling.c.id.label("of_subscription"), func.count().label("n"))
        .select_from(source)
        .where(*which)
        .group_by(filling.c.id)
        .subquery("coming")
    )
    count = (
        subscriptions.update()
        .where(subscriptions.c.id == coming.c.of_subscription)
        .values(unread_count=subscriptions.c.unread_count + coming.c.n)
    )
    columns = (
        users.c.unread_list_id.label("a"),
        entries.c.sort_at.label("b"),
        entries.c.id.label("c"),
        filling.c.id.label("d"),
    )
    return count, insert_selected(unread, select(*columns).select_from(source).where(*which))


# --- of a user ---------------------------------------------------------------------------------------------

_listed = json_rows("targets", Column("subscription_id", Id), Column("feed_id", Id), Column("up_to", Id))
LOCK = (
    select(subscriptions.c.id)
    .where(subscriptions.c.id.in_(select(_listed.c.subscription_id)))
    .order_by(subscriptions.c.id)
    .with_for_update()
)
MOVE_ON = (
    subscriptions.update()
    .where(subscriptions.c.id == _listed.c.subscription_id, subscriptions.c.feed_id == _listed.c.feed_id)
    .where(subscriptions.c.filled_to < _listed.c.up_to)
    .values(filled_to=_listed.c.up_to)
)
FILL_LISTED = (LOCK, *_statements_to_add(_listed), MOVE_ON)


async def fill_deferred(db: Database, user_id: int) -> None:
    """Brings the user's unread list up to date. A database that does not do so does not stop the caller."""
    with suppress(DatabaseError):  # the fill has logged it
        await fill_deferred_or_fail(db, user_id)


async def fill_deferred_or_fail(db: Database, user_id: int) -> None:
    """The same for a caller that can't go on with an incomplete list; raises the `DatabaseError`."""
    while await _lacking(db, user_id):
        fill = _running_fill(db, user_id)
        await asyncio.shield(fill.task)
        if fill.error is not None:
            raise fill.error


async def fill_first_deferred(db: Database, user_id: int) -> None:
    """The same for a request: it waits for one chunk at most, and the rest is added in the background.

    Until then the lists of the user end before the oldest entry that is still to be added.
    """
    with suppress(DatabaseError):
        if (id(db), user_id) in _running or await _lacking(db, user_id):
            await asyncio.shield(_running_fill(db, user_id).chunk)


class _RunningFill:
    """Fills the list of a user, chunk by chunk. `chunk` is done when the current chunk is."""

    def __init__(self, db: Database, user_id: int) -> None:
        self.error: DatabaseError | None = None
        self.chunk = asyncio.get_running_loop().create_future()
        self.task = asyncio.create_task(self._run(db, user_id))
        # Also if it is cancelled before it begins.
        self.task.add_done_callback(lambda _: self._end(db, user_id))

    async def _run(self, db: Database, user_id: int) -> None:
        try:
            while await _fill_chunk(db, user_id):
                self.chunk.set_result(None)
                self.chunk = asyncio.get_running_loop().create_future()
        except DatabaseError as error:
            log.warning("unread_list_not_filled", user_id=user_id, reason=str(error))
            self.error = error

    def _end(self, db: Database, user_id: int) -> None:
        del _running[id(db), user_id]
        self.chunk.set_result(None)


# Of this process, by database and user: whoever comes second waits here, not with a connection for the locked rows.
_running: dict[tuple[int, int], _RunningFill] = {}


def _running_fill(db: Database, user_id: int) -> _RunningFill:
    key = id(db), user_id
    if key not in _running:
        _running[key] = _RunningFill(db, user_id)
    return _running[key]


async def _lacking(db: Database, user_id: int) -> list[Row]:
    return await db.query(LACKING, {"of_user": user_id})


async def _fill_chunk(db: Database, user_id: int) -> bool:
    """Adds up to `CHUNK_SIZE` rows; whether there may be more to add."""
    if not (lacking := await _lacking(db, user_id)):
        return False
    end = await db.query(END_OF_CHUNK, {"of_user": user_id, "skipped": CHUNK_SIZE - 1})
    up_to = end[0]["entry_id"] if end else max(row["newest_id"] for row in lacking)
    await _fill(db, [(row["id"], row["feed_id"], min(row["newest_id"], up_to)) for row in lacking])
    return bool(end)


async def _fill(db: Database, targets: Sequence[tuple[int, int, int]]) -> None:
    """`targets`: the subscriptions, each with its feed and the last entry to add."""
    for some in as_rows(targets):
        await db.batch([Step(statement, {"targets": some}) for statement in FILL_LISTED])


# --- of a feed, whose row the batch has locked ---------------------------------------------------------------


def _statements_to_fill(chosen: Any) -> tuple[Executable, ...]:
    reached = subscriptions.alias("reached")
    targets = (
        select(reached.c.id.label("subscription_id"), reached.c.feed_id, popular_feeds.c.newest_id.label("up_to"))
        .select_from(popular_feeds.join(reached, reached.c.feed_id == popular_feeds.c.feed_id))
        .where(popular_feeds.c.feed_id == bindparam("of_feed"), chosen(reached))
        .subquery("targets")
    )
    these = (subscriptions.c.feed_id == bindparam("of_feed"), chosen(subscriptions))
    lock = select(subscriptions.c.id).where(*these).order_by(subscriptions.c.id).with_for_update()
    newest = newest_deferred(subscriptions.c.feed_id)
    move_on = subscriptions.update().where(*these, subscriptions.c.filled_to < newest).values(filled_to=newest)
    return lock, *_statements_to_add(targets), move_on


_lagging = and_(
    subscriptions.c.feed_id == bindparam("of_feed"),
    subscriptions.c.paused == 0,
    subscriptions.c.filled_to < popular_feeds.c.newest_id,
)
LAGGING = (
    select(subscriptions.c.id, popular_feeds.c.newest_id)
    .select_from(subscriptions.join(popular_feeds, popular_feeds.c.feed_id == subscriptions.c.feed_id))
    .where(_lagging, subscriptions.c.id > bindparam("after"))
    .order_by(subscriptions.c.id)
    .limit(bindparam("most", type_=Integer))
)
COUNT_DEFERRED = select(func.count().label("n")).select_from(
    select(deferred_entries.c.entry_id)
    .where(deferred_entries.c.feed_id == bindparam("of_feed"))
    .limit(bindparam("most", type_=Integer))
    .subquery("deferred")
)
FILL_CHOSEN = _statements_to_fill(lambda rows: one_of(rows.c.id, "subscriptions"))
FILL_ALL = _statements_to_fill(lambda rows: rows.c.id.is_not(None))
DROP_DEFERRED = deferred_entries.delete().where(deferred_entries.c.feed_id == bindparam("of_feed"))
DROP_POPULAR = popular_feeds.delete().where(popular_feeds.c.feed_id == bindparam("of_feed"))


async def fill_subscribers(db: Database, feed_id: int) -> None:
    """Adds the deferred entries of the feed for all subscribers, in chunks. It can be interrupted and repeated."""
    [deferred] = await db.query(COUNT_DEFERRED, {"of_feed": feed_id, "most": CHUNK_SIZE})
    most = max(1, CHUNK_SIZE // max(1, deferred["n"]))
    after = 0
    while lagging := await db.query(LAGGING, {"of_feed": feed_id, "after": after, "most": most}):
        await _fill(db, [(row["id"], feed_id, row["newest_id"]) for row in lagging])
        after = lagging[-1]["id"]


def steps_to_fill_subscriptions(feed_id: int, ids: Collection[int]) -> list[Step]:
    """Adds all deferred entries of the feed for these of its subscriptions, so that steps can follow for some."""
    params = {"of_feed": feed_id, "subscriptions": as_list(sorted(ids))}
    return [Step(statement, params) for statement in FILL_CHOSEN] if ids else []


def steps_to_fill_all(feed_id: int) -> list[Step]:
    """Adds all deferred entries of the feed for all subscribers; the feed has none then."""
    params = {"of_feed": feed_id}
    return [Step(statement, params) for statement in (*FILL_ALL, DROP_DEFERRED, DROP_POPULAR)]


def steps_to_forget_deferred(feed_id: int) -> list[Step]:
    """The deferred entries of the feed are added for nobody any more."""
    lock, *_ = FILL_ALL
    return [Step(statement, {"of_feed": feed_id}) for statement in (lock, DROP_DEFERRED, DROP_POPULAR)]
