"""Cards: a small object per feed that says where the feed is, so that the store can be understood without rows."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta

import msgspec

from feedmill.archive.blobs import Blobs
from feedmill.archive.keys import CARDS, card_key, parse_card_key
from feedmill.model.feed import Feed
from feedmill.store.additions import lots
from feedmill.store.database import Database
from feedmill.store.feeds import feeds_of_ids
from feedmill.store.raw import feeds_with_bodies, moved_since

CONTENT_TYPE = "application/json"
# Moves are looked back for longer than the time between two looks.
LOOK_BACK = timedelta(days=8)


class Card(msgspec.Struct, frozen=True):
    """What is needed to know a feed again."""

    feed_id: int
    url: str
    title: str | None = None


async def keep_card(blobs: Blobs, feed: Feed) -> None:
    """Writes the feed's card, in place of an older one."""
    card = Card(feed.id, feed.url, feed.own_title or feed.title)
    await blobs.put(card_key(feed.id), msgspec.json.encode(card), CONTENT_TYPE)


async def read_cards(blobs: Blobs) -> AsyncIterator[Card]:
    """Every card in the store; what is no card of ours is passed over."""
    async for blob in blobs.list_keys(CARDS):
        feed_id = parse_card_key(blob.key)
        if feed_id is None:
            continue
        try:
            yield msgspec.json.decode(await blobs.get(blob.key), type=Card)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue


async def mend_cards(db: Database, blobs: Blobs, now: datetime) -> int:
    """Writes the cards that are missing, and those of feeds that moved; how many that was."""
    there = {parse_card_key(blob.key) async for blob in blobs.list_keys(CARDS)}
    wanted = [id for id in await feeds_with_bodies(db) if id not in there]
    return await _write(db, blobs, [*wanted, *await moved_since(db, now - LOOK_BACK)])


async def _write(db: Database, blobs: Blobs, feed_ids: Sequence[int]) -> int:
    for lot in lots(feed_ids):
        for feed in await feeds_of_ids(db, list(lot)):
            await keep_card(blobs, feed)
    return len(feed_ids)
