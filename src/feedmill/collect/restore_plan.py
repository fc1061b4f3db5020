"""Lists the feeds to restore and their raw bodies, from the index or from the object store."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from feedmill.archive.blobs import Blobs
from feedmill.archive.feed_descriptors import FeedDescriptor, read_descriptors
from feedmill.archive.object_keys import RAW_BODIES_PREFIX, parse_raw_body_key, raw_body_prefix
from feedmill.collect.restore_bodies import BodyToRestore, Period, order_bodies
from feedmill.errors import FeedmillError
from feedmill.model.feed import Feed
from feedmill.store.archive.raw_bodies import StoredRawBody, indexed_keys, raw_bodies_of_feeds
from feedmill.store.archive.recover_feeds import ArchivedFeed, recover_feeds
from feedmill.store.chunks import chunked
from feedmill.store.database import Database
from feedmill.store.feeds.feeds_by_url import feed_ids_by_current_url
from feedmill.store.feeds.read_feeds import all_feeds, feeds_of_ids


@dataclass(frozen=True, slots=True)
class RestorePlan:
    """A feed, and how to list its raw bodies, the oldest first. They are listed when the feed is claimed."""

    feed: Feed
    list_bodies: Callable[[], Awaitable[list[BodyToRestore]]]


async def plan_from_index(db: Database, chosen: Sequence[int] | None, period: Period) -> AsyncIterator[RestorePlan]:
    """The chosen feeds, or all. The bodies of a feed are restored into that feed alone, even if it has moved away."""
    feeds = {feed.id: feed for feed in await all_feeds(db)}
    for id in feeds if chosen is None else dict.fromkeys(chosen):
        if id in feeds:
            yield RestorePlan(feeds[id], partial(_indexed_bodies, db, feeds[id], period))


class NothingToRestore(FeedmillError):
    """The object store does not say which feeds its objects belong to; nothing was changed."""


async def find_descriptors(blobs: Blobs) -> tuple[list[FeedDescriptor], int]:
    """The feed descriptors in the object store, and how many feeds have bodies there but no descriptor.

    Raises `NothingToRestore`.
    """
    descriptors = [descriptor async for descriptor in read_descriptors(blobs)]
    known = {descriptor.feed_id for descriptor in descriptors}
    keys = [parse_raw_body_key(blob.key) async for blob in blobs.list_keys(RAW_BODIES_PREFIX)]
    unknown = len({key.feed_id for key in keys if key is not None} - known)
    if not descriptors and unknown:
        raise NothingToRestore(
            f"the object store has bodies (feeds: {unknown}), but no descriptors (feeds/*.json) that say where these "
            "feeds are, so nothing was restored or changed; 'feedmill refresh' and 'feedmill purge' write the "
            "descriptors with the database that has them"
        )
    if not descriptors:
        raise NothingToRestore("the object store holds no feeds, so nothing was restored or changed; see 'objects'")
    return descriptors, unknown


async def plan_from_store(
    db: Database, blobs: Blobs, descriptors: Sequence[FeedDescriptor], period: Period, now: datetime
) -> AsyncIterator[RestorePlan]:
    """Every feed that has a descriptor in the object store; those that the database lacks are added."""
    for chunk in chunked(descriptors):
        ids = await recover_feeds(
            db, [ArchivedFeed(descriptor.feed_id, descriptor.url, descriptor.title) for descriptor in chunk], now
        )
        feeds = {feed.id: feed for feed in await feeds_of_ids(db, list(ids.values()))}
        for descriptor in chunk:
            feed = feeds[ids[descriptor.feed_id]]
            yield RestorePlan(feed, partial(_stored_bodies, db, blobs, descriptor, feed, period))


async def preview_from_store(
    db: Database, blobs: Blobs, descriptors: Sequence[FeedDescriptor], period: Period, now: datetime
) -> AsyncIterator[RestorePlan]:
    """The same as `plan_from_store` without adding feeds."""
    for chunk in chunked(descriptors):
        ids = await feed_ids_by_current_url(db, [descriptor.url for descriptor in chunk])
        feeds = {feed.url: feed for feed in await feeds_of_ids(db, list(ids.values()))}
        for descriptor in chunk:
            # A negative id is that of no row.
            feed = feeds.get(descriptor.url) or Feed(-descriptor.feed_id, descriptor.url, now, descriptor.title)
            yield RestorePlan(feed, partial(_stored_bodies, db, blobs, descriptor, feed, period))


async def _indexed_bodies(db: Database, feed: Feed, period: Period) -> list[BodyToRestore]:
    return order_bodies(await raw_bodies_of_feeds(db, [feed.id]), {feed.id: feed.url}, period)


async def _stored_bodies(
    db: Database, blobs: Blobs, descriptor: FeedDescriptor, feed: Feed, period: Period
) -> list[BodyToRestore]:
    listed = [
        StoredRawBody(feed.id, blob.key, key.at, blob.size, indexed=False)
        async for blob in blobs.list_keys(raw_body_prefix(descriptor.feed_id))
        if (key := parse_raw_body_key(blob.key)) is not None
    ]
    indexed = {body.key: body for body in await raw_bodies_of_feeds(db, [feed.id])}
    # A body may be listed for another feed.
    elsewhere = await indexed_keys(db, [body.key for body in listed if body.key not in indexed])
    bodies = [body for body in listed if body.key not in indexed and body.key not in elsewhere]
    return order_bodies([*indexed.values(), *bodies], {feed.id: feed.url}, period)
