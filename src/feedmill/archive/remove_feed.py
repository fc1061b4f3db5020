"""Removes a feed with its rows and all its objects."""

from datetime import datetime

from feedmill.archive.object_keys import descriptor_key
from feedmill.store.database import Database
from feedmill.store.feeds.lifecycle import remove_feed


async def remove_feed_and_objects(db: Database, feed_id: int, now: datetime) -> None:
    """Removes the rows and records the objects as garbage, also the descriptor: else a restore would bring it back."""
    await remove_feed(db, feed_id, now, [descriptor_key(feed_id)])
