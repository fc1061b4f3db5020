"""Finds feeds by their current or former URLs."""

from collections.abc import Sequence

from sqlalchemy import func, select

from feedmill.store.chunks import chunked
from feedmill.store.database import Database
from feedmill.store.dialect import as_list, one_of
from feedmill.store.schema import feed_urls, feeds

BY_CURRENT_URL = select(feeds.c.url, feeds.c.id, feeds.c.merged_into).where(one_of(feeds.c.url, "urls"))
BY_FORMER_URL = (
    select(feed_urls.c.url, func.coalesce(feeds.c.merged_into, feeds.c.id).label("feed_id"))
    .join(feeds, feeds.c.id == feed_urls.c.feed_id)
    .where(one_of(feed_urls.c.url, "urls"))
    .order_by(feed_urls.c.until)
)


async def feed_ids_by_current_url(db: Database, urls: Sequence[str]) -> dict[str, int]:
    """The feeds whose current URLs these are, also feeds that were merged into others."""
    found: dict[str, int] = {}
    for chunk in chunked(urls):
        found |= {row["url"]: row["id"] for row in await db.query(BY_CURRENT_URL, {"urls": as_list(list(chunk))})}
    return found


async def feed_ids_by_any_url(db: Database, urls: Sequence[str]) -> dict[str, int]:
    """By URL the feed that is there, or was before it moved; unknown URLs are left out."""
    found: dict[str, int] = {}
    for chunk in chunked(urls):
        params = {"urls": as_list(list(chunk))}
        found |= {row["url"]: row["feed_id"] for row in await db.query(BY_FORMER_URL, params)}
        # A merged feed keeps its row at the old URL: the feed that it was merged into is meant.
        found |= {row["url"]: row["merged_into"] or row["id"] for row in await db.query(BY_CURRENT_URL, params)}
    return found
