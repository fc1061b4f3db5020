"""Stops, starts and removes feeds, and has a feed fetched in full.

A feed is removed in chunks, so that one with a million entries blocks nobody. Its objects are recorded as garbage in
the batch that deletes their rows: a crash leaves neither a lost object nor a dangling row, and removing the feed again
completes it.
"""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, select

from feedmill.i18n.messages import Message, message_to_stored
from feedmill.model.feed import PRIVATE_URL_MARKER
from feedmill.model.timestamps import to_iso
from feedmill.store.archive.object_garbage import RECORD
from feedmill.store.chunks import CHUNK_SIZE
from feedmill.store.database import Database, Step
from feedmill.store.dialect import InsertNew, as_list, one_of
from feedmill.store.entries.fill_deferred_entries import steps_to_forget_deferred
from feedmill.store.schema import (
    entries,
    feeds,
    image_tasks,
    object_garbage,
    pool_items,
    raw_bodies,
    subscriptions,
    unread,
    unread_lists,
)

# Without its claim a running refresh writes nothing.
STOP = (
    feeds.update()
    .where(feeds.c.id == bindparam("feed_id"))
    .values(status="disabled", next_fetch_at=None, next_fetch_why=bindparam("why"))
    .values(claim_token=None, claimed_until=None)
)
START = (
    feeds.update()
    .where(feeds.c.id == bindparam("feed_id"))
    .values(status="active", next_fetch_at=bindparam("at"), next_fetch_why=bindparam("why"))
    .values(consecutive_failures=0, gone_since=None, merged_into=None)
)
FORGET_VALIDATORS = feeds.update().where(feeds.c.id == bindparam("feed_id")).values(etag=None, last_modified=None)
SOME_ENTRIES = (
    select(entries.c.id).where(entries.c.feed_id == bindparam("feed_id")).order_by(entries.c.id).limit(CHUNK_SIZE)
)
_its_subscriptions = select(subscriptions.c.id).where(subscriptions.c.feed_id == bindparam("feed_id"))
_its_readers = select(subscriptions.c.user_id).where(subscriptions.c.feed_id == bindparam("feed_id"))
FORGET_UNREAD = unread.delete().where(
    unread.c.list_id.in_(select(unread_lists.c.id).where(unread_lists.c.user_id.in_(_its_readers))),
    unread.c.subscription_id.in_(_its_subscriptions),
)
IMAGES_TO_GARBAGE = InsertNew(object_garbage).from_select(
    ["key", "recorded_at"],
    select(image_tasks.c.object_key, bindparam("at")).where(
        one_of(image_tasks.c.entry_id, "ids"), image_tasks.c.object_key.is_not(None)
    ),
)
DROP_POOL_ITEMS = pool_items.delete().where(one_of(pool_items.c.entry_id, "ids"))
DROP_ENTRIES = entries.delete().where(one_of(entries.c.id, "ids"))
RAW_TO_GARBAGE = InsertNew(object_garbage).from_select(
    ["key", "recorded_at"],
    select(raw_bodies.c.key, bindparam("at")).where(raw_bodies.c.feed_id == bindparam("feed_id")),
)
# Feeds that were merged into this one no longer point to it.
FORGET_MERGES = feeds.update().where(feeds.c.merged_into == bindparam("feed_id")).values(merged_into=None)
DROP_FEED = feeds.delete().where(feeds.c.id == bindparam("feed_id"))


async def stop_feed(db: Database, feed_id: int, why: Message) -> None:
    """Stops fetching the feed until `start_feed`."""
    await db.batch([Step(STOP, {"feed_id": feed_id, "why": message_to_stored(why)})])


async def start_feed(db: Database, feed_id: int, why: Message, now: datetime) -> None:
    """Makes the feed due at once and resets its failures."""
    await db.batch([Step(START, {"feed_id": feed_id, "why": message_to_stored(why), "at": to_iso(now)})])


async def forget_validators(db: Database, feed_id: int) -> None:
    """The next fetch asks for the whole feed, without ETag and Last-Modified."""
    await db.batch([Step(FORGET_VALIDATORS, {"feed_id": feed_id})])


async def private_feeds_of(db: Database, user_id: int) -> list[int]:
    """The private feeds of this user, also those without a subscription."""
    of_user = feeds.c.url.endswith(f"{PRIVATE_URL_MARKER}{user_id}", autoescape=True)
    return [row["id"] for row in await db.query(select(feeds.c.id).where(of_user).order_by(feeds.c.id))]


async def remove_feed(db: Database, feed_id: int, now: datetime, objects: Sequence[str] = ()) -> None:
    """Deletes the feed with all its data; `objects` are keys of further objects that belong to it."""
    await stop_feed(db, feed_id, Message("schedule.being_removed"))
    params = {"feed_id": feed_id, "at": to_iso(now)}
    await db.batch([*steps_to_forget_deferred(feed_id), Step(FORGET_UNREAD, params)])
    while some := await db.query(SOME_ENTRIES, params):
        ids = {"ids": as_list([row["id"] for row in some]), "at": to_iso(now)}
        await db.batch([Step(IMAGES_TO_GARBAGE, ids), Step(DROP_POOL_ITEMS, ids), Step(DROP_ENTRIES, ids)])
    noted = [Step(RECORD, [{"key": key, "recorded_at": to_iso(now)} for key in objects])] if objects else []
    await db.batch([Step(RAW_TO_GARBAGE, params), *noted, Step(FORGET_MERGES, params), Step(DROP_FEED, params)])
