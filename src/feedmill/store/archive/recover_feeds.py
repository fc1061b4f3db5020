"""Adds feeds that only the object store knows, under their old ids where these are free."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from feedmill.i18n.messages import Message, message_to_stored
from feedmill.model.hosts import host_of
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert_new
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.feeds.feeds_by_url import feed_ids_by_any_url, feed_ids_by_current_url
from feedmill.store.id_sequences import advance_id_sequences
from feedmill.store.lots import lots
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
    known = await _known(db, found)
    unknown = [one for one in found if one.url not in known]
    for lot in lots(unknown):
        await db.batch([Step(RECOVER, [_row(one, now) for one in lot])])
    await advance_id_sequences(db, feeds)
    known |= await feed_ids_by_current_url(db, [one.url for one in unknown])
    for one in unknown:
        if one.url not in known:
            known[one.url] = (await add_feed(db, one.url, now, one.title)).id
    return {one.id: known[one.url] for one in found}


async def _known(db: Database, found: Sequence[ArchivedFeed]) -> dict[str, int]:
    """The existing feeds by URL. A former URL counts only for the feed of the same id: data of a feed that was merged
    into another must not be written into the other."""
    urls = [one.url for one in found]
    here, formerly = await feed_ids_by_current_url(db, urls), await feed_ids_by_any_url(db, urls)
    return {one.url: one.id for one in found if formerly.get(one.url) == one.id} | here


def _row(found: ArchivedFeed, now: datetime) -> dict[str, object]:
    return {
        "id": found.id,
        "url": found.url,
        "host": host_of(found.url),
        "title": found.title,
        "added_by_person": 1,
        "next_fetch_at": to_iso(now),
        "next_fetch_why": message_to_stored(WHY),
        "created_at": to_iso(now),
    }
