"""The names that a shell completes on the command line: feeds, users, pool groups."""

from sqlalchemy import Select, select
from sqlalchemy.sql.functions import coalesce

from feedmill.store.database import Database
from feedmill.store.schema import feeds, pool_groups, users

FEEDS = select(feeds.c.id, coalesce(feeds.c.own_title, feeds.c.title, feeds.c.url).label("title")).order_by(feeds.c.id)
USERS = select(users.c.name).order_by(users.c.name)
POOL_GROUPS = select(pool_groups.c.name).order_by(pool_groups.c.name)


async def feed_titles(db: Database) -> dict[int, str]:
    """The title of every feed, or its URL, by id."""
    return {row["id"]: row["title"] for row in await db.query(FEEDS)}


async def user_names(db: Database) -> list[str]:
    return await _names(db, USERS)


async def pool_group_names(db: Database) -> list[str]:
    return await _names(db, POOL_GROUPS)


async def _names(db: Database, which: Select[tuple[str]]) -> list[str]:
    return [row["name"] for row in await db.query(which)]
