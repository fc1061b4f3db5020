"""Two feeds become one: the one that moved gives its readers and its entries to the one that is there already.

Entries that both have are twins: the row of the target stays, and takes over whatever a person did to the other.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, case, func, or_, select

from feedmill.model.sentences import Sentence, to_stored
from feedmill.model.times import to_text
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import as_list, insert, insert_selected, one_of
from feedmill.store.feed_settings import AGREE as AGREE_ON_SETTINGS
from feedmill.store.removals import DROP_ENTRIES, IMAGES_TO_GARBAGE, LEAVE_POOLS
from feedmill.store.schema import (
    deliveries,
    entries,
    entry_labels,
    feed_urls,
    feeds,
    folder_subscriptions,
    image_tasks,
    states,
    subscriptions,
    tombstones,
    unread,
    users,
)

_mine, _theirs = entries.alias("mine"), entries.alias("theirs")
_sub, _other_sub = subscriptions.alias("sub"), subscriptions.alias("other_sub")
_state, _other_state = states.alias("state"), states.alias("other_state")
_kept_states = ("read_at", "starred_at", "later_at", "later_until")
_are_twins = (
    _mine.c.feed_id == bindparam("source"), _theirs.c.feed_id == bindparam("target"), _theirs.c.guid == _mine.c.guid,
)  # fmt: skip

TWINS = select(_mine.c.id.label("old"), _theirs.c.id.label("new")).where(*_are_twins)
_reads_both = (
    _sub.c.feed_id == bindparam("source"),
    _other_sub.c.feed_id == bindparam("target"),
    _other_sub.c.user_id == _sub.c.user_id,
)
READERS_OF_BOTH = select(_sub.c.id.label("old"), _other_sub.c.id.label("new")).where(*_reads_both)
_old_state = [_state.c[name].label(f"old_{name}") for name in _kept_states]
STATES_OF_TWINS = select(_state.c.user_id.label("reader"), _theirs.c.id.label("new"), *_old_state).where(
    *_are_twins, _state.c.entry_id == _mine.c.id
)
STATES_OF_BOTH = STATES_OF_TWINS.where(
    _other_state.c.entry_id == _theirs.c.id, _other_state.c.user_id == _state.c.user_id
)
READ_TWINS = select(users.c.unread_list_id.label("list"), _theirs.c.id.label("new")).where(
    *_are_twins, states.c.entry_id == _mine.c.id, states.c.read_at.is_not(None), users.c.id == states.c.user_id
)


COPY_STATES = insert_selected(states, STATES_OF_TWINS)
JOIN_STATES = (
    states.update()
    .where(states.c.user_id == bindparam("reader"), states.c.entry_id == bindparam("new"))
    .values({name: func.coalesce(states.c[name], bindparam(f"old_{name}")) for name in _kept_states})
)
COPY_LABELS = insert_selected(
    entry_labels,
    select(entry_labels.c.label_id.label("a"), _theirs.c.id.label("b"), entry_labels.c.sort_at.label("c"))
    .where(*_are_twins, entry_labels.c.entry_id == _mine.c.id),
)  # fmt: skip
_subscribed = unread.c.subscription_id.label("d")
# Who reads both has the target's row in the list already, or has read it.
COPY_UNREAD = insert_selected(
    unread,
    select(unread.c.list_id.label("a"), _theirs.c.sort_at.label("b"), _theirs.c.id.label("c"), _subscribed)
    .where(*_are_twins, unread.c.entry_id == _mine.c.id, ~one_of(unread.c.subscription_id, "of_both")),
)  # fmt: skip
FORGET_TWINS = unread.delete().where(one_of(unread.c.entry_id, "ids"))
READ_IN_ONE = unread.delete().where(unread.c.list_id == bindparam("list"), one_of(unread.c.entry_id, "ids"))
COPY_TOMBSTONES = insert_selected(
    tombstones,
    select(feeds.c.id.label("a"), tombstones.c.guid.label("b"), tombstones.c.purged_at.label("c"))
    .where(feeds.c.id == bindparam("target"), tombstones.c.feed_id == bindparam("source")),
)  # fmt: skip
COPY_FOLDERS = insert_selected(
    folder_subscriptions,
    select(folder_subscriptions.c.folder_id.label("a"), _other_sub.c.id.label("b"))
    .where(*_reads_both, folder_subscriptions.c.subscription_id == _sub.c.id),
)  # fmt: skip
HAND_OVER_UNREAD = (
    unread.update().where(unread.c.subscription_id == bindparam("old")).values(subscription_id=bindparam("new"))
)
DROP_SUBSCRIPTIONS = subscriptions.delete().where(one_of(subscriptions.c.id, "ids"))
_given: dict[str, Any] = {"feed_id": bindparam("target")}
MOVE_SUBSCRIPTIONS = subscriptions.update().where(subscriptions.c.feed_id == bindparam("source")).values(_given)
MOVE_ENTRIES = entries.update().where(entries.c.feed_id == bindparam("source")).values(_given | {"in_feed": 0})
# What is told of it is read from the feed that has its entries when it is sent.
MOVE_DELIVERIES = deliveries.update().where(deliveries.c.feed_id == bindparam("source")).values(_given)
MOVE_IMAGES = image_tasks.update().where(image_tasks.c.feed_id == bindparam("source")).values(_given)
COUNT_UNREAD = (
    subscriptions.update()
    .where(subscriptions.c.feed_id == bindparam("target"))
    .values(
        unread_count=select(func.count())
        .select_from(unread.join(users, users.c.unread_list_id == unread.c.list_id))
        .where(unread.c.subscription_id == subscriptions.c.id, users.c.id == subscriptions.c.user_id)
        .scalar_subquery()
    )
)
COUNT_ENTRIES = (
    feeds.update()
    .where(feeds.c.id == bindparam("target"))
    .values(entry_count=select(func.count()).where(entries.c.feed_id == bindparam("target")).scalar_subquery())
)
INTERVAL = select(feeds.c.interval_seconds).where(
    feeds.c.id == bindparam("source"), feeds.c.interval_seconds.is_not(None)
)
_slower = or_(feeds.c.interval_seconds.is_(None), feeds.c.interval_seconds > bindparam("seconds"))
QUICKEN = (
    feeds.update()
    .where(feeds.c.id == bindparam("target"))
    .values(interval_seconds=case((_slower, bindparam("seconds")), else_=feeds.c.interval_seconds))
)
RETIRE = (
    feeds.update()
    .where(feeds.c.id == bindparam("source"))
    .values(status="disabled", next_fetch_at=None, next_fetch_why=bindparam("why"), moved_to=bindparam("to"))
    .values(entry_count=0, gone_since=None)
    # A refresh that runs now must not bring entries to where nobody reads them.
    .values(claim_token=None, claimed_until=None)
)
NOTE_URL = insert(feed_urls, "feed_id", "url", "until")


async def merge_feeds(
    db: Database, source: int, source_url: str, target: int, target_url: str, now: datetime, also: Sequence[Step] = ()
) -> None:
    """Gives everything of `source` to `target` in one batch, `also` in it; nothing that a person did is lost."""
    both = {"source": source, "target": target}
    shared = [dict(row) for row in await db.query(READERS_OF_BOTH, both)]
    why = Sentence("moved to {url}, which was here already", url=target_url)
    steps = [
        *await _twins(db, both, as_list([pair["old"] for pair in shared]), to_text(now)),
        *_readers(both, shared),
        Step(AGREE_ON_SETTINGS, {"feed": target}),
        *[
            Step(move, both)
            for move in (COPY_TOMBSTONES, MOVE_ENTRIES, MOVE_IMAGES, MOVE_DELIVERIES, COUNT_UNREAD, COUNT_ENTRIES)
        ],
        *[Step(QUICKEN, both | {"seconds": row["interval_seconds"]}) for row in await db.query(INTERVAL, both)],
        Step(NOTE_URL, {"feed_id": target, "url": source_url, "until": to_text(now)}),
        Step(RETIRE, {"source": source, "to": target_url, "why": to_stored(why)}),
    ]
    await db.batch([*steps, *also])


async def _twins(db: Database, both: dict[str, int], of_both: str, at: str) -> list[Step]:
    """What becomes of the entries that both feeds have."""
    twins = await db.query(TWINS, both)
    if not twins:
        return []
    ids = {"ids": as_list([twin["old"] for twin in twins])}
    return [
        Step(JOIN_STATES, [dict(row) for row in await db.query(STATES_OF_BOTH, both)]),
        *[Step(copy, both | {"of_both": of_both}) for copy in (COPY_STATES, COPY_LABELS, COPY_UNREAD)],
        Step(FORGET_TWINS, ids),
        *_read(await db.query(READ_TWINS, both)),
        Step(IMAGES_TO_GARBAGE, ids | {"at": at}),
        Step(LEAVE_POOLS, ids),
        Step(DROP_ENTRIES, ids),
    ]


def _read(rows: Sequence[Row]) -> list[Step]:
    """Who has read one twin has read the other."""
    lists = sorted({row["list"] for row in rows})
    return [
        Step(READ_IN_ONE, {"list": one, "ids": as_list([row["new"] for row in rows if row["list"] == one])})
        for one in lists
    ]


def _readers(both: dict[str, int], shared: list[dict[str, int]]) -> list[Step]:
    """Who reads one gets the other; who reads both keeps one subscription, in the folders of both."""
    return [
        Step(COPY_FOLDERS, both),
        Step(HAND_OVER_UNREAD, shared),
        Step(DROP_SUBSCRIPTIONS, {"ids": as_list([pair["old"] for pair in shared])}),
        Step(MOVE_SUBSCRIPTIONS, both),
    ]
