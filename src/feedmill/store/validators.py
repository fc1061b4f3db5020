"""What a feed is asked with, forgotten: so that its next answer is a whole one."""

from sqlalchemy import bindparam

from feedmill.store.database import Database, Step
from feedmill.store.schema import feeds

FORGET = feeds.update().where(feeds.c.id == bindparam("feed_id")).values(etag=None, last_modified=None)


async def forget_validators(db: Database, feed_id: int) -> None:
    await db.batch([Step(FORGET, {"feed_id": feed_id})])
