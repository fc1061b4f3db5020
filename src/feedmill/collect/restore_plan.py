"""Which feeds are restored from which bodies: those that the index lists, or all that the store holds."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from feedmill.archive.blobs import Blobs
from feedmill.archive.cards import Card, read_cards
from feedmill.archive.keys import BACKUPS, backup_prefix, parse_backup_key
from feedmill.archive.ownership import adopt_store
from feedmill.collect.backups import Backup, Period, in_order
from feedmill.model.feed import Feed
from feedmill.store.additions import ids_of_urls, lots
from feedmill.store.adoption import Found, adopt_feeds
from feedmill.store.database import Database
from feedmill.store.feeds import all_feeds, feeds_of_ids
from feedmill.store.raw import KeptBody, bodies_of, indexed_keys, merged_feeds


@dataclass(frozen=True, slots=True)
class Plan:
    """One feed, and how to find what was kept of it, the oldest first: asked once nobody else can refresh it."""

    feed: Feed
    backups: Callable[[], Awaitable[list[Backup]]]


async def plan_from_index(db: Database, chosen: Sequence[int] | None, period: Period) -> AsyncIterator[Plan]:
    """The chosen feeds, or all; a feed that was merged into another is restored into that one."""
    merged = await merged_feeds(db)
    feeds = {feed.id: feed for feed in await all_feeds(db)}
    heirs = feeds if chosen is None else dict.fromkeys(merged.get(id, id) for id in chosen)
    for id in heirs:
        if id in merged or id not in feeds:
            continue
        family = [id, *(old for old, into in merged.items() if into == id)]
        urls = {one: feeds[one].url for one in family}
        yield Plan(feeds[id], partial(_indexed, db, urls, period))


async def plan_from_store(db: Database, blobs: Blobs, period: Period, now: datetime) -> AsyncIterator[Plan]:
    """Every feed that has a card in the store, made known to the database if it is not."""
    await adopt_store(db, blobs)
    async for lot in _cards(blobs):
        ids = await adopt_feeds(db, [Found(card.feed_id, card.url, card.title) for card in lot], now)
        feeds = {feed.id: feed for feed in await feeds_of_ids(db, list(ids.values()))}
        for card in lot:
            feed = feeds[ids[card.feed_id]]
            yield Plan(feed, partial(_stored, db, blobs, card, feed, period))


async def imagine_from_store(db: Database, blobs: Blobs, period: Period, now: datetime) -> AsyncIterator[Plan]:
    """The same without making anything known."""
    async for lot in _cards(blobs):
        ids = await ids_of_urls(db, [card.url for card in lot])
        feeds = {feed.url: feed for feed in await feeds_of_ids(db, list(ids.values()))}
        for card in lot:
            # An id that no row has.
            feed = feeds.get(card.url) or Feed(-card.feed_id, card.url, now, card.title)
            yield Plan(feed, partial(_stored, db, blobs, card, feed, period))


async def strangers(blobs: Blobs) -> int:
    """How many feeds have bodies in the store and no card, so that nobody knows where they are."""
    known = {card.feed_id async for card in read_cards(blobs)}
    keys = [parse_backup_key(blob.key) async for blob in blobs.list_keys(BACKUPS)]
    return len({key.feed_id for key in keys if key is not None} - known)


async def _indexed(db: Database, urls: Mapping[int, str], period: Period) -> list[Backup]:
    return in_order(await bodies_of(db, list(urls)), urls, period)


async def _stored(db: Database, blobs: Blobs, card: Card, feed: Feed, period: Period) -> list[Backup]:
    listed = [
        KeptBody(feed.id, blob.key, key.at, blob.size, indexed=False)
        async for blob in blobs.list_keys(backup_prefix(card.feed_id))
        if (key := parse_backup_key(blob.key)) is not None
    ]
    indexed = {body.key: body for body in await bodies_of(db, [feed.id])}
    # What the index has, it has for this feed or for one that it was merged into.
    elsewhere = await indexed_keys(db, [body.key for body in listed if body.key not in indexed])
    bodies = [body for body in listed if body.key not in indexed and body.key not in elsewhere]
    return in_order([*indexed.values(), *bodies], {feed.id: feed.url}, period)


async def _cards(blobs: Blobs) -> AsyncIterator[Sequence[Card]]:
    cards = [card async for card in read_cards(blobs)]
    for lot in lots(cards):
        yield lot
