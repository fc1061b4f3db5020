"""Adds feeds that only the object store knows, under their old ids where these are free."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from feedmill.i18n.messages import Message, message_to_stored
from feedmill.model.hosts import host_of
from feedmill.model.timestamps import to_iso
from feedmill.store.chunks import chunked
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert_new
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.feeds.feeds_by_url import feed_ids_by_any_url, feed_ids_by_current_url
from feedmill.store.id_sequences import advance_id_sequences
from feedmill.store.schema import feeds

WHY = Message("schedule.found_in_store")
RECOVER = insert_new(
    feeds, "id", "url", "host", "title", "added_by_person", "next_fetch_at", "next_fetch_why", "created_at"
)


class ArchivedFeed(NamedTuple):
    id: int
    url: str
    title: str | None


async def recover_feeds(db: Database, found: Sequence[ArchivedFeed], now: datetime) -> dict[int, int]:
    """Adds these feeds, each with its old id if that is free; the ids that they have now."""
    ids = await _existing_ids(db, found)
    missing = [feed for feed in found if feed.url not in ids]
    for chunk in chunked(missing):
        await db.batch([Step(RECOVER, [_row(feed, now) for feed in chunk])])
    await advance_id_sequences(db, feeds)
    ids |= await feed_ids_by_current_url(db, [feed.url for feed in missing])
    for feed in missing:
        if feed.url not in ids:
            ids[feed.url] = (await add_feed(db, feed.url, now, feed.title)).id
    return {feed.id: ids[feed.url] for feed in found}


async def _existing_ids(db: Database, found: Sequence[ArchivedFeed]) -> dict[str, int]:
    """The existing feeds by URL. A former URL counts only for the feed of the same id: data of a feed that was merged
    into another must not be written into the other."""
    urls = [feed.url for feed in found]
    current, former = await feed_ids_by_current_url(db, urls), await feed_ids_by_any_url(db, urls)
    return {feed.url: feed.id for feed in found if former.get(feed.url) == feed.id} | current


def _row(feed: ArchivedFeed, now: datetime) -> dict[str, object]:
    return {
        "id": feed.id,
        "url": feed.url,
        "host": host_of(feed.url),
        "title": feed.title,
        "added_by_person": 1,
        "next_fetch_at": to_iso(now),
        "next_fetch_why": message_to_stored(WHY),
        "created_at": to_iso(now),
    }
