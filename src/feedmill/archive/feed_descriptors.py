"""Feed descriptors: a JSON object per feed in the object store, from which a new database learns its URL and title.

A refresh writes the descriptor before its batch, and the batch records the descriptor's digest. A process that is
killed in between leaves a correct descriptor, and the next refresh writes it once more. A descriptor that is up to
date is not written again.
"""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from hashlib import sha256

import msgspec

from feedmill.archive.blobs import Blobs
from feedmill.archive.object_keys import DESCRIPTORS_PREFIX, descriptor_key, parse_descriptor_key
from feedmill.archive.store_ownership import OwnershipCheck
from feedmill.model.feed import Feed
from feedmill.model.refresh import Failed, RefreshDecision, Unchanged, Updated
from feedmill.store.archive.feed_descriptor_digests import step_to_save_descriptor_digest
from feedmill.store.archive.raw_bodies import feeds_with_raw_bodies
from feedmill.store.chunks import chunked
from feedmill.store.database import Database, Step
from feedmill.store.feeds.read_feeds import feeds_of_ids
from feedmill.store.feeds.url_history import feeds_moved_since

CONTENT_TYPE = "application/json"
# Longer than the time between two repairs.
MOVES_LOOKBACK = timedelta(days=8)


class FeedDescriptor(msgspec.Struct, frozen=True, omit_defaults=True):
    """What identifies a feed. `has_login`: it is fetched with a login, which is not in the descriptor."""

    feed_id: int
    url: str
    title: str | None = None
    has_login: bool = False


def describe_feed(feed: Feed) -> FeedDescriptor:
    return FeedDescriptor(feed.id, feed.url, feed.own_title or feed.title, feed.http_options is not None)


def describe_feed_after(feed: Feed, decision: RefreshDecision) -> FeedDescriptor | None:
    """The descriptor of a feed once the decision is written; None if no raw body was stored."""
    match decision:
        case Updated(move=move, metadata=metadata):
            url = move.to if move.settled and move.to else feed.url
            title = feed.own_title or metadata.title or feed.title
            return msgspec.structs.replace(describe_feed(feed), url=url, title=title)
        case Unchanged(move=move):
            return msgspec.structs.replace(describe_feed(feed), url=move.to if move.settled and move.to else feed.url)
        case Failed(raw=raw) if raw is not None:
            return describe_feed(feed)
        case _:
            return None


async def store_descriptor(
    db: Database, blobs: Blobs, ownership: OwnershipCheck, feed: Feed, decision: RefreshDecision, now: datetime
) -> Sequence[Step]:
    """Writes the descriptor if it is missing or outdated; returns the step that records it, for the refresh's batch.

    In a store that belongs to another database nothing is written: the key may hold another feed's descriptor.
    """
    descriptor = describe_feed_after(feed, decision)
    if descriptor is None:
        return ()
    data = msgspec.json.encode(descriptor)
    digest = sha256(data).hexdigest()
    if digest == feed.descriptor_sha256 or not await ownership.is_ours(db, blobs, now):
        return ()
    await blobs.put(descriptor_key(feed.id), data, CONTENT_TYPE)
    return (step_to_save_descriptor_digest(feed.id, digest),)


async def read_descriptors(blobs: Blobs) -> AsyncIterator[FeedDescriptor]:
    """Yields every descriptor in the store; other objects are skipped."""
    async for blob in blobs.list_keys(DESCRIPTORS_PREFIX):
        feed_id = parse_descriptor_key(blob.key)
        if feed_id is None:
            continue
        try:
            yield msgspec.json.decode(await blobs.get(blob.key), type=FeedDescriptor)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue


async def repair_descriptors(db: Database, blobs: Blobs, now: datetime) -> int:
    """Writes descriptors that are missing, and those of feeds that moved; returns how many."""
    existing = {parse_descriptor_key(blob.key) async for blob in blobs.list_keys(DESCRIPTORS_PREFIX)}
    missing = [id for id in await feeds_with_raw_bodies(db) if id not in existing]
    return await _write(db, blobs, [*missing, *await feeds_moved_since(db, now - MOVES_LOOKBACK)])


async def _write(db: Database, blobs: Blobs, feed_ids: Sequence[int]) -> int:
    for chunk in chunked(feed_ids):
        for feed in await feeds_of_ids(db, list(chunk)):
            await blobs.put(descriptor_key(feed.id), msgspec.json.encode(describe_feed(feed)), CONTENT_TYPE)
    return len(feed_ids)
