"""The beginnings of what entries say, for passages of search results."""

from collections.abc import Sequence

from sqlalchemy import func, select

from feedmill.store.database import Database
from feedmill.store.dialect import as_list, one_of
from feedmill.store.schema import entries

MOST_HTML = 16_000
BEGINNINGS = select(entries.c.id, func.substr(entries.c.content_html, 1, MOST_HTML).label("html")).where(
    one_of(entries.c.id, "ids"), entries.c.content_html.is_not(None)
)


async def beginnings_of(db: Database, ids: Sequence[int]) -> dict[int, str]:
    """By entry the beginning of its content, without those that have none; whoever asks has seen to who may."""
    rows = await db.query(BEGINNINGS, {"ids": as_list(list(ids))}) if ids else []
    return {row["id"]: row["html"] for row in rows}
