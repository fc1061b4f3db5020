"""Entries whole, many at once: the newest text of each, where it is from, and when its reader starred it."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, and_, bindparam, case, func, select

from feedmill.store.database import Database, Row
from feedmill.store.dialect import as_list, one_of
from feedmill.store.schema import entries, feeds, revisions, states


def _newest(name: str) -> ColumnElement[str | None]:
    return case((revisions.c.id.is_not(None), revisions.c[name]), else_=entries.c[name]).label(name)


TEXTS = (
    select(
        *(entries.c[name] for name in ("id", "guid", "base_url", "published_at", "image_url")),
        *(_newest(name) for name in ("title", "link", "author", "summary", "content_html")),
        func.coalesce(entries.c.language, feeds.c.language).label("language"),
        feeds.c.url.label("feed_url"),
        states.c.starred_at,
    )
    .select_from(
        entries.join(feeds, feeds.c.id == entries.c.feed_id)
        .outerjoin(
            revisions, and_(revisions.c.entry_id == entries.c.id, revisions.c.number == entries.c.revision_count)
        )
        .outerjoin(states, and_(states.c.entry_id == entries.c.id, states.c.user_id == bindparam("of_user")))
    )
    .where(one_of(entries.c.id, "ids"))
)


async def texts_of(db: Database, user_id: int, ids: Sequence[int]) -> dict[int, Row]:
    """By entry; whether the user may see it is for the caller to know."""
    rows = await db.query(TEXTS, {"of_user": user_id, "ids": as_list(list(ids))})
    return {row["id"]: row for row in rows}
