"""Room that older images of a feed take: what would go, and have it go."""

from datetime import datetime, timedelta

from feedmill.errors import NotAllowed
from feedmill.library.subscriptions import find_subscription
from feedmill.model.account import User
from feedmill.store.administered_feeds import read_administered
from feedmill.store.database import Database
from feedmill.store.freeing import drop_old_images, sum_old_images
from feedmill.store.kept_images import ImageSum


async def may_free(db: Database, user: User, feed_id: int) -> bool:
    """Whether the images are theirs alone; an admin decides for everybody."""
    found = await read_administered(db, feed_id)
    return user.is_admin or (found is not None and found.subscribers == 1)


async def would_free(db: Database, user: User, subscription_id: int, older: timedelta, now: datetime) -> ImageSum:
    """What `free_images` would drop."""
    feed_id = (await find_subscription(db, user.id, subscription_id)).feed_id
    return await sum_old_images(db, feed_id, now - older)


async def free_images(db: Database, user: User, subscription_id: int, older: timedelta, now: datetime) -> ImageSum:
    """Drops the archived images of entries that are older; what somebody starred, labelled or put off keeps its own."""
    feed_id = (await find_subscription(db, user.id, subscription_id)).feed_id
    if not await may_free(db, user, feed_id):
        raise NotAllowed("others read this feed too: only an admin may free its images")
    freed = await sum_old_images(db, feed_id, now - older)
    await drop_old_images(db, feed_id, now - older, now)
    return freed
