"""Digests of the feed descriptors in the object store."""

from sqlalchemy import bindparam

from feedmill.store.database import Step
from feedmill.store.schema import feeds

SAVE_DIGEST = feeds.update().where(feeds.c.id == bindparam("feed_id")).values(descriptor_sha256=bindparam("digest"))


def step_to_save_descriptor_digest(feed_id: int, digest: str) -> Step:
    """Records the digest of the feed's descriptor, as it is in the object store."""
    return Step(SAVE_DIGEST, {"feed_id": feed_id, "digest": digest})
