"""The history of feed URLs: former URLs, and feeds that moved or were merged into others."""

from datetime import datetime

from sqlalchemy import bindparam, select

from feedmill.model.timestamps import from_iso, to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.schema import feed_urls, feeds

UPDATE_MOVED_TO = feeds.update().where(feeds.c.merged_into == bindparam("feed")).values(moved_to=bindparam("new_url"))
FORMER_URLS = select(feed_urls.c.url, feed_urls.c.feed_id).order_by(feed_urls.c.until)
FORMER = (
    select(feed_urls.c.url, feed_urls.c.until)
    .where(feed_urls.c.feed_id == bindparam("feed_id"))
    .order_by(feed_urls.c.until.desc())
)
MERGED = select(feeds.c.id, feeds.c.merged_into).where(feeds.c.merged_into.is_not(None))
MOVED = select(feed_urls.c.feed_id).distinct().where(feed_urls.c.until >= bindparam("since"))
ADD_FORMER_URL = insert(feed_urls, "feed_id", "url", "until")


def step_to_add_former_url(feed_id: int, url: str, now: datetime) -> Step:
    """Records that the feed was at this URL until now."""
    return Step(ADD_FORMER_URL, {"feed_id": feed_id, "url": url, "until": to_iso(now)})


def step_to_update_moved_to(feed_id: int, url: str) -> Step:
    """Updates the new URL in the feeds that were merged into this feed."""
    return Step(UPDATE_MOVED_TO, {"feed": feed_id, "new_url": url})


async def all_former_urls(db: Database) -> dict[str, int]:
    """By former URL the feed that was there."""
    return {row["url"]: row["feed_id"] for row in await db.query(FORMER_URLS)}


async def former_urls_of_feed(db: Database, feed_id: int) -> list[tuple[str, datetime]]:
    """The former URLs of the feed, each with the time until which it was there; the latest first."""
    return [(row["url"], from_iso(row["until"])) for row in await db.query(FORMER, {"feed_id": feed_id})]


async def merged_feeds(db: Database) -> dict[int, int]:
    """By merged feed the feed that it was merged into."""
    return {row["id"]: row["merged_into"] for row in await db.query(MERGED)}


async def feeds_moved_since(db: Database, since: datetime) -> list[int]:
    """The feeds whose URL has changed since then."""
    return [row["feed_id"] for row in await db.query(MOVED, {"since": to_iso(since)})]
