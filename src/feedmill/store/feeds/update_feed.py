"""Changes single facts of a feed: forgets its validators, saves the digest of its descriptor."""

from sqlalchemy import bindparam

from feedmill.store.database import Database, Step
from feedmill.store.schema import feeds

_one_feed = feeds.update().where(feeds.c.id == bindparam("feed_id"))
FORGET_VALIDATORS = _one_feed.values(etag=None, last_modified=None)
SAVE_DESCRIPTOR_DIGEST = _one_feed.values(card_sha256=bindparam("digest"))


async def forget_validators(db: Database, feed_id: int) -> None:
    """The next fetch asks for the whole feed, without ETag and Last-Modified."""
    await db.batch([Step(FORGET_VALIDATORS, {"feed_id": feed_id})])


def step_to_save_descriptor_digest(feed_id: int, digest: str) -> Step:
    """Records the digest of the feed's descriptor, as it is in the object store."""
    return Step(SAVE_DESCRIPTOR_DIGEST, {"feed_id": feed_id, "digest": digest})
