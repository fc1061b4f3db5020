"""Reads the other entries of stories, as far as they belong to feeds of the user."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Join, and_, bindparam, case, func, select

from feedmill.model.stories.story_copy import StoryCopy
from feedmill.store.database import Database
from feedmill.store.dialect import as_list, one_of
from feedmill.store.entries.unread_list_sql import UNREAD_LIST_ID
from feedmill.store.schema import entries, feeds, story_entries, subscriptions, unread
from feedmill.store.stories.story_switches import takes_part

_own, _own_entry, _own_feed = story_entries.alias("own"), entries.alias("own_entry"), subscriptions.alias("own_feed")
_other = story_entries.alias("other")
_stands = and_(
    unread.c.list_id == UNREAD_LIST_ID, unread.c.sort_at == entries.c.sort_at, unread.c.entry_id == entries.c.id
)


def _with_feed(source: Join) -> Join:
    """Joins the user's subscriptions to the feeds of both entries; both must take part in stories."""
    of_user: ColumnElement[int] = bindparam("of_user")
    return source.join(
        _own_feed,
        and_(_own_feed.c.feed_id == _own_entry.c.feed_id, _own_feed.c.user_id == of_user, takes_part(_own_feed)),
    ).join(
        subscriptions,
        and_(
            subscriptions.c.feed_id == entries.c.feed_id,
            subscriptions.c.user_id == of_user,
            # Entries of one feed may be episodes with the same words.
            subscriptions.c.id != _own_feed.c.id,
            takes_part(subscriptions),
        ),
    )


_copies = _with_feed(
    _own.join(_own_entry, _own_entry.c.id == _own.c.entry_id)
    .join(_other, and_(_other.c.story_id == _own.c.story_id, _other.c.entry_id != _own.c.entry_id))
    .join(entries, entries.c.id == _other.c.entry_id)
)
_of_these = one_of(_own.c.entry_id, "ids")
UNREAD_COPIES = select(entries.c.id).select_from(_copies.join(unread, _stands)).where(_of_these).distinct()
COPIES = (
    select(
        _own.c.entry_id.label("of_entry"),
        entries.c.id,
        entries.c.title,
        subscriptions.c.id.label("subscription_id"),
        func.coalesce(subscriptions.c.title, feeds.c.own_title, feeds.c.title).label("feed_title"),
        case((unread.c.entry_id.is_(None), 0), else_=1).label("is_unread"),
    )
    .select_from(_copies.join(feeds, feeds.c.id == entries.c.feed_id).outerjoin(unread, _stands))
    .where(_of_these)
    .order_by(_own.c.entry_id, entries.c.id)
)


async def find_unread_copies(db: Database, user_id: int, ids: Sequence[int]) -> list[int]:
    """The user's unread entries of the stories of these entries, except themselves."""
    rows = await db.query(UNREAD_COPIES, {"of_user": user_id, "ids": as_list(list(ids))}) if ids else []
    return [row["id"] for row in rows]


async def find_copies(db: Database, user_id: int, ids: Sequence[int]) -> dict[int, list[StoryCopy]]:
    """By entry, the same article in the user's other feeds, in the order in which they were stored."""
    found: dict[int, list[StoryCopy]] = {}
    for row in await db.query(COPIES, {"of_user": user_id, "ids": as_list(list(ids))}) if ids else []:
        copy = StoryCopy(
            row["id"], row["subscription_id"], row["feed_title"], row["title"], unread=bool(row["is_unread"])
        )
        found.setdefault(row["of_entry"], []).append(copy)
    return found
