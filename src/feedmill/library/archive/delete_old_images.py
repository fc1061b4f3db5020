"""Deletes the archived images of a feed's older entries, to free storage."""

from datetime import datetime, timedelta

from feedmill.errors import NotAllowed
from feedmill.i18n.messages import Message
from feedmill.library.subscriptions.lookup import find_subscription
from feedmill.model.user import User
from feedmill.store.admin.feeds import read_admin_feed
from feedmill.store.archive.feed_images import ImageTotals
from feedmill.store.archive.old_images import drop_old_images, total_old_images
from feedmill.store.database import Database


async def may_delete_images(db: Database, user: User, feed_id: int) -> bool:
    """Whether the user is the only subscriber of the feed, or an admin."""
    found = await read_admin_feed(db, feed_id)
    return user.is_admin or (found is not None and found.subscribers == 1)


async def preview_image_deletion(
    db: Database, user: User, subscription_id: int, older: timedelta, now: datetime
) -> ImageTotals:
    """The number and bytes of the images that `delete_old_images` would delete."""
    feed_id = (await find_subscription(db, user.id, subscription_id)).feed_id
    return await total_old_images(db, feed_id, now - older)


async def delete_old_images(
    db: Database, user: User, subscription_id: int, older: timedelta, now: datetime
) -> ImageTotals:
    """Deletes the archived images of older entries, except starred, labelled and read-later ones; their totals."""
    feed_id = (await find_subscription(db, user.id, subscription_id)).feed_id
    if not await may_delete_images(db, user, feed_id):
        raise NotAllowed(Message("error.images_shared"))
    freed = await total_old_images(db, feed_id, now - older)
    await drop_old_images(db, feed_id, now - older, now)
    return freed
