"""Forgets the validators of a feed: ETag and Last-Modified."""

from sqlalchemy import bindparam

from feedmill.store.database import Database, Step
from feedmill.store.schema import feeds

FORGET_VALIDATORS = feeds.update().where(feeds.c.id == bindparam("feed_id")).values(etag=None, last_modified=None)


async def forget_validators(db: Database, feed_id: int) -> None:
    """The next fetch asks for the whole feed, without ETag and Last-Modified."""
    await db.batch([Step(FORGET_VALIDATORS, {"feed_id": feed_id})])
