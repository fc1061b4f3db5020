"""Lists the feeds to restore and their raw bodies, from the index or from the object store."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from feedmill.archive.blobs import Blobs
from feedmill.archive.feed_descriptors import FeedDescriptor, read_descriptors
from feedmill.archive.keys import RAW_BODIES_PREFIX, parse_raw_body_key, raw_body_prefix
from feedmill.collect.restore_bodies import BodyToRestore, Period, order_bodies
from feedmill.errors import FeedmillError
from feedmill.model.feed import Feed
from feedmill.store.archive.raw_bodies import StoredRawBody, indexed_keys, raw_bodies_of_feeds
from feedmill.store.archive.recover_feeds import ArchivedFeed, recover_feeds
from feedmill.store.database import Database
from feedmill.store.feeds.feeds_by_url import feed_ids_by_current_url
from feedmill.store.feeds.read_feeds import all_feeds, feeds_of_ids
from feedmill.store.lots import lots


@dataclass(frozen=True, slots=True)
class RestorePlan:
    """One feed, and how to find what was kept of it, the oldest first: asked once nobody else can refresh it."""

    feed: Feed
    backups: Callable[[], Awaitable[list[BodyToRestore]]]


async def plan_from_index(db: Database, chosen: Sequence[int] | None, period: Period) -> AsyncIterator[RestorePlan]:
    """The chosen feeds, or all; what was kept of a feed is restored into that feed alone, also if it has moved away."""
    feeds = {feed.id: feed for feed in await all_feeds(db)}
    for id in feeds if chosen is None else dict.fromkeys(chosen):
        if id in feeds:
            yield RestorePlan(feeds[id], partial(_indexed, db, feeds[id], period))


class NothingToRestore(FeedmillError):
    """The store does not say which feeds its objects belong to; nothing was changed."""


async def find_cards(blobs: Blobs) -> tuple[list[FeedDescriptor], int]:
    """The cards in the store, and how many feeds have bodies there and no card; raises `NothingToRestore`."""
    cards = [card async for card in read_descriptors(blobs)]
    known = {card.feed_id for card in cards}
    keys = [parse_raw_body_key(blob.key) async for blob in blobs.list_keys(RAW_BODIES_PREFIX)]
    unknown = len({key.feed_id for key in keys if key is not None} - known)
    if not cards and unknown:
        raise NothingToRestore(
            f"the object store has bodies (feeds: {unknown}), but no cards (feeds/*.json) that say where these feeds "
            "are, so nothing was restored or changed; 'feedmill refresh' and 'feedmill purge' write the cards with the "
            "database that has them"
        )
    if not cards:
        raise NothingToRestore("the object store holds no feeds, so nothing was restored or changed; see 'objects'")
    return cards, unknown


async def plan_from_store(
    db: Database, blobs: Blobs, cards: Sequence[FeedDescriptor], period: Period, now: datetime
) -> AsyncIterator[RestorePlan]:
    """Every feed that has a card in the store, made known to the database if it is not."""
    for lot in lots(cards):
        ids = await recover_feeds(db, [ArchivedFeed(card.feed_id, card.url, card.title) for card in lot], now)
        feeds = {feed.id: feed for feed in await feeds_of_ids(db, list(ids.values()))}
        for card in lot:
            feed = feeds[ids[card.feed_id]]
            yield RestorePlan(feed, partial(_stored, db, blobs, card, feed, period))


async def preview_from_store(
    db: Database, blobs: Blobs, cards: Sequence[FeedDescriptor], period: Period, now: datetime
) -> AsyncIterator[RestorePlan]:
    """The same without making anything known."""
    for lot in lots(cards):
        ids = await feed_ids_by_current_url(db, [card.url for card in lot])
        feeds = {feed.url: feed for feed in await feeds_of_ids(db, list(ids.values()))}
        for card in lot:
            # An id that no row has.
            feed = feeds.get(card.url) or Feed(-card.feed_id, card.url, now, card.title)
            yield RestorePlan(feed, partial(_stored, db, blobs, card, feed, period))


async def _indexed(db: Database, feed: Feed, period: Period) -> list[BodyToRestore]:
    return order_bodies(await raw_bodies_of_feeds(db, [feed.id]), {feed.id: feed.url}, period)


async def _stored(db: Database, blobs: Blobs, card: FeedDescriptor, feed: Feed, period: Period) -> list[BodyToRestore]:
    listed = [
        StoredRawBody(feed.id, blob.key, key.at, blob.size, indexed=False)
        async for blob in blobs.list_keys(raw_body_prefix(card.feed_id))
        if (key := parse_raw_body_key(blob.key)) is not None
    ]
    indexed = {body.key: body for body in await raw_bodies_of_feeds(db, [feed.id])}
    # What the index has, it has for this feed or for another one.
    elsewhere = await indexed_keys(db, [body.key for body in listed if body.key not in indexed])
    bodies = [body for body in listed if body.key not in indexed and body.key not in elsewhere]
    return order_bodies([*indexed.values(), *bodies], {feed.id: feed.url}, period)
