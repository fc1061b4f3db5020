"""Two feeds become one: the one that moved gives its readers and its entries to the one that is there already."""

from datetime import datetime

from sqlalchemy import bindparam, func, select

from feedmill.model.times import to_text
from feedmill.store.database import Database, Step
from feedmill.store.dialect import InsertNew, as_list, insert, one_of
from feedmill.store.schema import entries, entry_labels, feed_urls, feeds, folder_subscriptions, states, subscriptions, unread

_mine, _theirs = entries.alias("mine"), entries.alias("theirs")
_sub, _other_sub = subscriptions.alias("sub"), subscriptions.alias("other_sub")

TWINS = (
    select(_mine.c.id.label("old"), _theirs.c.id.label("new"))
    .join(_theirs, _theirs.c.guid == _mine.c.guid)
    .where(_mine.c.feed_id == bindparam("source"), _theirs.c.feed_id == bindparam("target"))
)
READERS_OF_BOTH = (
    select(_sub.c.id.label("old"), _other_sub.c.id.label("new"))
    .join(_other_sub, _other_sub.c.user_id == _sub.c.user_id)
    .where(_sub.c.feed_id == bindparam("source"), _other_sub.c.feed_id == bindparam("target"))
)
COPY_STATES = InsertNew(states).from_select(
    [column.name for column in states.c],
    select(states.c.user_id, bindparam("new"), states.c.read_at, states.c.starred_at, states.c.later_at, states.c.later_until).where(
        states.c.entry_id == bindparam("old")
    ),
)
COPY_LABELS = InsertNew(entry_labels).from_select(
    [column.name for column in entry_labels.c],
    select(entry_labels.c.label_id, bindparam("new"), entry_labels.c.sort_at).where(entry_labels.c.entry_id == bindparam("old")),
)
COPY_FOLDERS = InsertNew(folder_subscriptions).from_select(
    [column.name for column in folder_subscriptions.c],
    select(folder_subscriptions.c.folder_id, bindparam("new")).where(folder_subscriptions.c.subscription_id == bindparam("old")),
)
FORGET_TWINS = unread.delete().where(one_of(unread.c.entry_id, "ids"))
DROP_TWINS = entries.delete().where(one_of(entries.c.id, "ids"))
HAND_OVER_UNREAD = unread.update().where(unread.c.subscription_id == bindparam("old")).values(subscription_id=bindparam("new"))
DROP_SUBSCRIPTIONS = subscriptions.delete().where(one_of(subscriptions.c.id, "ids"))
MOVE_SUBSCRIPTIONS = subscriptions.update().where(subscriptions.c.feed_id == bindparam("source")).values(feed_id=bindparam("target"))
MOVE_ENTRIES = entries.update().where(entries.c.feed_id == bindparam("source")).values(feed_id=bindparam("target"), in_feed=0)
RETIRE = (
    feeds.update()
    .where(feeds.c.id == bindparam("source"))
    .values(status="disabled", next_fetch_at=None, next_fetch_why=bindparam("why"), moved_to=bindparam("to"), entry_count=0)
)
COUNT_ENTRIES = (
    feeds.update()
    .where(feeds.c.id == bindparam("target"))
    .values(entry_count=select(func.count()).where(entries.c.feed_id == bindparam("target")).scalar_subquery())
)
NOTE_URL = insert(feed_urls, "feed_id", "url", "until")


async def merge_feeds(db: Database, source: int, source_url: str, target: int, target_url: str, now: datetime) -> None:
    """Gives everything of `source` to `target` in one batch; entries that both have keep one row and all states."""
    both = {"source": source, "target": target}
    twins = [dict(row) for row in await db.query(TWINS, both)]
    shared = [dict(row) for row in await db.query(READERS_OF_BOTH, both)]
    old = as_list([twin["old"] for twin in twins])
    await db.batch(
        [
            Step(COPY_STATES, twins),
            Step(COPY_LABELS, twins),
            Step(FORGET_TWINS, {"ids": old}),
            Step(DROP_TWINS, {"ids": old}),
            Step(COPY_FOLDERS, shared),
            Step(HAND_OVER_UNREAD, shared),
            Step(DROP_SUBSCRIPTIONS, {"ids": as_list([pair["old"] for pair in shared])}),
            Step(MOVE_SUBSCRIPTIONS, both),
            Step(MOVE_ENTRIES, both),
            Step(COUNT_ENTRIES, both),
            Step(NOTE_URL, {"feed_id": target, "url": source_url, "until": to_text(now)}),
            Step(RETIRE, {"source": source, "to": target_url, "why": f"moved to {target_url}, which was here already"}),
        ]
    )
