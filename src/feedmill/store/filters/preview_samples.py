"""The newest entries of a feed, to preview filter rules on."""

from typing import NamedTuple

from sqlalchemy import Integer, bindparam, select

from feedmill.store.database import Database
from feedmill.store.schema import entries

NEWEST = (
    select(
        entries.c.id,
        entries.c.sort_at,
        entries.c.link,
        entries.c.title,
        entries.c.author,
        entries.c.summary,
        entries.c.content_html,
    )
    .where(entries.c.feed_id == bindparam("feed"))
    .order_by(entries.c.sort_at.desc(), entries.c.id.desc())
    .limit(bindparam("most", type_=Integer))
)


class FilterSample(NamedTuple):
    """An entry to preview rules on."""

    id: int
    link: str | None
    title: str | None
    author: str | None
    summary: str | None
    content_html: str | None
    sort_at: str


async def newest_filter_samples(db: Database, feed_id: int, most: int) -> list[FilterSample]:
    """The newest entries of a feed."""
    return [FilterSample(**row) for row in await db.query(NEWEST, {"feed": feed_id, "most": most})]
