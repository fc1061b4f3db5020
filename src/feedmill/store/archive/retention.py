"""Finds and deletes entries past their retention, with everything that belongs to them.

Starred, labelled and read-later entries stay, and so do entries with queued, leased or held pool items. Every statement
of the batch repeats the conditions, so that a star that is set meanwhile counts.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, bindparam, exists, func, or_, select, tuple_

from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import InsertNew, as_list, one_of
from feedmill.store.schema import (
    entries,
    entry_labels,
    feeds,
    image_tasks,
    object_garbage,
    pool_groups,
    pool_items,
    states,
    subscriptions,
    tombstones,
    unread,
    unread_lists,
    users,
)
from feedmill.store.subscriptions.feed_settings import RetentionPreference, retention_preferences

CHUNK_SIZE = 500
# The most marks and unread rows that a batch can have to delete: those of all subscribers, of each of its entries.
MOST_READER_ROWS = 1_000_000
QUEUED, LEASED, HELD = 2, 3, 5

is_starred_or_later = exists().where(
    states.c.entry_id == entries.c.id, or_(states.c.starred_at.is_not(None), states.c.later_at.is_not(None))
)
is_labelled = exists().where(entry_labels.c.entry_id == entries.c.id)
# By group and kind, because the index of entries begins with them.
_in_a_pool = and_(
    pool_items.c.group_id.in_(select(pool_groups.c.id)),
    or_(pool_items.c.kind == "titles", pool_items.c.kind == "contents"),
)
# `+ 0`, so that SQLite does not use the index of queued items instead.
_is_taken_from_pool = exists().where(
    _in_a_pool,
    pool_items.c.entry_id == entries.c.id,
    or_((pool_items.c.status + 0).between(QUEUED, LEASED), (pool_items.c.status + 0) == HELD),
)
_is_expired = and_(
    entries.c.in_feed == 0,
    entries.c.last_seen_at < bindparam("before"),
    ~is_starred_or_later,
    ~is_labelled,
    ~_is_taken_from_pool,
)
_of_chunk = and_(one_of(entries.c.id, "ids"), _is_expired)
_victims = select(entries.c.id).where(_of_chunk)
# By feed, because the index by time begins with the feed.
_by_feed = feeds.join(entries, entries.c.feed_id == feeds.c.id)


def _expired(of: ColumnElement[bool]) -> tuple[Select[Any], Select[Any], Select[Any]]:
    """Selects a chunk of expired entries of these feeds, the number of all of them, and the number of their images."""
    expired = select(entries.c.id, entries.c.feed_id).select_from(_by_feed)
    with_images = _by_feed.join(image_tasks, image_tasks.c.entry_id == entries.c.id)
    return (
        expired.where(feeds.c.id >= bindparam("from_feed"), of, _is_expired).order_by(feeds.c.id).limit(CHUNK_SIZE),
        select(func.count().label("entries")).select_from(_by_feed).where(of, _is_expired),
        select(func.count().label("images"))
        .select_from(with_images)
        .where(of, _is_expired, image_tasks.c.object_key.is_not(None)),
    )


# Feeds whose subscribers may have retention settings are handled separately.
EXPIRED, COUNT_EXPIRED, COUNT_IMAGES = _expired(feeds.c.has_entry_settings == 0)
EXPIRED_OF, COUNT_EXPIRED_OF, COUNT_IMAGES_OF = _expired(one_of(feeds.c.id, "of"))

SUBSCRIBERS = (
    select(subscriptions.c.feed_id, func.count().label("n"))
    .where(one_of(subscriptions.c.feed_id, "feeds"))
    .group_by(subscriptions.c.feed_id)
)
# Locked until the batch ends, so that nobody stars these entries or changes unread lists meanwhile.
LOCK_ENTRIES = select(entries.c.id).where(one_of(entries.c.id, "ids")).order_by(entries.c.id).with_for_update()
LOCK_SUBSCRIPTIONS = (
    select(subscriptions.c.id)
    .where(one_of(subscriptions.c.feed_id, "feeds"))
    .order_by(subscriptions.c.id)
    .with_for_update()
)
ADD_TOMBSTONES = InsertNew(tombstones).from_select(
    ["feed_id", "guid", "purged_at", "entry_id"],
    select(entries.c.feed_id, entries.c.guid, bindparam("at"), entries.c.id).where(_of_chunk),
)
TO_GARBAGE = InsertNew(object_garbage).from_select(
    ["key", "recorded_at"],
    select(image_tasks.c.object_key, bindparam("at")).where(
        image_tasks.c.entry_id.in_(_victims), image_tasks.c.object_key.is_not(None)
    ),
)
# Distinct, so that PostgreSQL finds them once, not for each unread row.
_expired_of_chunk = select(entries.c.id, entries.c.feed_id, entries.c.sort_at).where(_of_chunk).distinct()
_each, _gone = _expired_of_chunk.subquery("each"), _expired_of_chunk.subquery("gone")
_spans = (
    select(_each.c.feed_id, func.min(_each.c.sort_at).label("oldest"), func.max(_each.c.sort_at).label("newest"))
    .group_by(_each.c.feed_id)
    .subquery("spans")
)
_reader = subscriptions.alias("reader")
# The unread rows of the feeds from the time of their first expired entry to that of the last, along the index by list
# and subscription: there is none by entry, and to look for each entry in each list takes subscribers times entries.
# Retired lists that can be restored are included. Distinct: else PostgreSQL would begin with the entries and read all
# unread rows.
_rows = (
    select(unread.c.list_id, unread.c.sort_at, unread.c.entry_id, unread.c.subscription_id, _reader.c.user_id)
    .where(
        one_of(_reader.c.feed_id, "feeds"),
        _reader.c.feed_id == _spans.c.feed_id,
        unread_lists.c.user_id == _reader.c.user_id,
        unread.c.list_id == unread_lists.c.id,
        unread.c.subscription_id == _reader.c.id,
        unread.c.sort_at >= _spans.c.oldest,
        unread.c.sort_at <= _spans.c.newest,
    )
    .distinct()
    .subquery("rows_of_feeds")
)
_counted = (
    select(_rows.c.subscription_id.label("of_subscription"), func.count().label("n"))
    .where(_rows.c.entry_id == _gone.c.id, users.c.id == _rows.c.user_id, users.c.unread_list_id == _rows.c.list_id)
    .group_by(_rows.c.subscription_id)
    .subquery("counted")
)
UNCOUNT_UNREAD = (
    subscriptions.update()
    .where(subscriptions.c.id == _counted.c.of_subscription)
    .values(unread_count=subscriptions.c.unread_count - _counted.c.n)
)
FORGET_UNREAD = unread.delete().where(
    tuple_(unread.c.list_id, unread.c.sort_at, unread.c.entry_id).in_(
        select(_rows.c.list_id, _rows.c.sort_at, _rows.c.entry_id).where(_rows.c.entry_id == _gone.c.id)
    )
)
UNCOUNT_ENTRIES = (
    feeds.update()
    .where(one_of(feeds.c.id, "feeds"))
    .values(
        entry_count=feeds.c.entry_count
        - select(func.count()).where(entries.c.feed_id == feeds.c.id, _of_chunk).scalar_subquery()
    )
)
# Deletes revisions, image tasks and states too, by cascade.
DROP = entries.delete().where(_of_chunk)
# After the entries, because MySQL does not let a delete select from its own table.
DROP_POOL_ITEMS = pool_items.delete().where(
    _in_a_pool, one_of(pool_items.c.entry_id, "ids"), ~exists().where(entries.c.id == pool_items.c.entry_id)
)
STEPS = (
    LOCK_ENTRIES,
    LOCK_SUBSCRIPTIONS,
    ADD_TOMBSTONES,
    TO_GARBAGE,
    UNCOUNT_UNREAD,
    FORGET_UNREAD,
    UNCOUNT_ENTRIES,
    DROP,
    DROP_POOL_ITEMS,
)


async def count_expired_entries(db: Database, usual: timedelta, now: datetime) -> tuple[int, int]:
    """The number of entries that `drop_expired_entries` would delete, and of their images."""
    before = {"before": to_iso(now - usual)}
    found = [(await db.query(COUNT_EXPIRED, before), await db.query(COUNT_IMAGES, before))]
    for of in await _feeds_with_preferences(db, usual, now):
        found.append((await db.query(COUNT_EXPIRED_OF, of), await db.query(COUNT_IMAGES_OF, of)))
    return sum(int(rows[0]["entries"]) for rows, _ in found), sum(int(rows[0]["images"]) for _, rows in found)


async def count_expired_entries_of_feed(
    db: Database, feed_id: int, retention: timedelta, now: datetime
) -> tuple[int, int]:
    """The number of entries of one feed that would expire with this retention, and of their images."""
    of = {"of": as_list([feed_id]), "before": to_iso(now - retention)}
    [expired], [images] = await db.query(COUNT_EXPIRED_OF, of), await db.query(COUNT_IMAGES_OF, of)
    return int(expired["entries"]), int(images["images"])


async def drop_expired_entries(db: Database, usual: timedelta, now: datetime) -> int:
    """Deletes entries that left their feed longer ago than their retention; how many there were.

    Chunk by chunk, each in one batch; a popular feed takes several.
    """
    dropped = await _drop_all(db, EXPIRED, {"before": to_iso(now - usual)}, now)
    for of in await _feeds_with_preferences(db, usual, now):
        dropped += await _drop_all(db, EXPIRED_OF, of, now)
    return dropped


async def _feeds_with_preferences(db: Database, usual: timedelta, now: datetime) -> list[dict[str, str]]:
    """For each retention period that subscribers set, its feeds and the time before which entries expire."""
    by_length: dict[timedelta, list[int]] = {}
    for feed_id, retention in retention_by_feed(await retention_preferences(db), usual).items():
        by_length.setdefault(retention, []).append(feed_id)
    return [{"of": as_list(ids), "before": to_iso(now - retention)} for retention, ids in sorted(by_length.items())]


def retention_by_feed(preferences: Iterable[RetentionPreference], usual: timedelta) -> dict[int, timedelta]:
    """By feed, the longest retention that anybody wants; the operator and those without a setting want `usual`."""
    longest: dict[int, timedelta] = {}
    for preference in preferences:
        own = usual if preference.days is None else timedelta(days=preference.days)
        least = usual if preference.of_operator else own
        longest[preference.feed_id] = max(own, least, longest.get(preference.feed_id, own))
    return longest


async def _drop_all(db: Database, expired: Select[Any], params: Mapping[str, str], now: datetime) -> int:
    dropped, from_feed = 0, 0
    while chunk := await db.query(expired, {**params, "from_feed": from_feed}):
        for some in _portions(chunk, await _subscribers(db, chunk)):
            dropped += await _drop(db, some, params["before"], now)
        from_feed = chunk[-1]["feed_id"]
    return dropped


async def _subscribers(db: Database, chunk: Sequence[Row]) -> dict[int, int]:
    """How many subscribers each feed of these entries has, if there are any."""
    rows = await db.query(SUBSCRIBERS, {"feeds": as_list(sorted({row["feed_id"] for row in chunk}))})
    return {row["feed_id"]: row["n"] for row in rows}


def _portions(chunk: Sequence[Row], subscribers: Mapping[int, int]) -> Iterator[Sequence[Row]]:
    """Cuts a chunk so that each part has few rows of readers: entries times subscribers."""
    portion: list[Row] = []
    weight = 0
    for row in chunk:
        of_row = subscribers.get(row["feed_id"], 0)
        if portion and weight + of_row > MOST_READER_ROWS:
            yield portion
            portion, weight = [], 0
        portion.append(row)
        weight += of_row
    yield portion


async def _drop(db: Database, chunk: Sequence[Row], before: str, now: datetime) -> int:
    params = {
        "ids": as_list([row["id"] for row in chunk]),
        "feeds": as_list(sorted({row["feed_id"] for row in chunk})),
        "before": before,
        "at": to_iso(now),
    }
    changed = await db.batch([Step(statement, params) for statement in STEPS])
    return changed[STEPS.index(DROP)]
