"""The newest texts of entries, as SQL and read for many at once; the beginnings of contents."""

from collections.abc import Sequence

from msgspec import Struct
from sqlalchemy import ColumnElement, FromClause, Join, and_, bindparam, case, func, select

from feedmill.store.database import Database
from feedmill.store.dialect import as_list, one_of
from feedmill.store.schema import entries, feeds, revisions, states

is_newest_revision = and_(revisions.c.entry_id == entries.c.id, revisions.c.number == entries.c.revision_count)


def with_newest_revision(source: FromClause) -> Join:
    """Joins the newest revision of each revised entry to a source that contains entries."""
    return source.outerjoin(revisions, is_newest_revision)


def newest_text(name: str) -> ColumnElement[str | None]:
    """A column of an entry in its newest version; the source is one of `with_newest_revision`."""
    return case((revisions.c.id.is_not(None), revisions.c[name]), else_=entries.c[name]).label(name)


MAX_HTML = 16_000
BEGINNINGS = select(entries.c.id, func.substr(entries.c.content_html, 1, MAX_HTML).label("html")).where(
    one_of(entries.c.id, "ids"), entries.c.content_html.is_not(None)
)


_own_state = and_(states.c.entry_id == entries.c.id, states.c.user_id == bindparam("of_user"))
TEXTS = (
    select(
        *(entries.c[name] for name in ("id", "guid", "base_url", "published_at", "image_url")),
        *(newest_text(name) for name in ("title", "link", "author", "summary", "content_html")),
        func.coalesce(entries.c.language, feeds.c.language).label("language"),
        feeds.c.url.label("feed_url"),
        states.c.starred_at,
    )
    .select_from(
        with_newest_revision(entries.join(feeds, feeds.c.id == entries.c.feed_id)).outerjoin(states, _own_state)
    )
    .where(one_of(entries.c.id, "ids"))
)


class NewestText(Struct, frozen=True, gc=False):
    """An entry with its newest texts; `starred_at` is the user's."""

    id: int
    guid: str
    base_url: str | None
    published_at: str | None
    image_url: str | None
    title: str | None
    link: str | None
    author: str | None
    summary: str | None
    content_html: str | None
    language: str | None
    feed_url: str
    starred_at: str | None

    @property
    def html(self) -> str:
        """The fullest text that there is."""
        return self.content_html or self.summary or ""


async def newest_texts(db: Database, user_id: int, ids: Sequence[int]) -> dict[int, NewestText]:
    """By entry. The caller checks whether the user may see it."""
    rows = await db.query(TEXTS, {"of_user": user_id, "ids": as_list(list(ids))})
    return {row["id"]: NewestText(**row) for row in rows}


async def content_beginnings(db: Database, ids: Sequence[int]) -> dict[int, str]:
    """By entry the beginning of its content, without those that have none.

    The caller checks whether the user may see them.
    """
    rows = await db.query(BEGINNINGS, {"ids": as_list(list(ids))}) if ids else []
    return {row["id"]: row["html"] for row in rows}
