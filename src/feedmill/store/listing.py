"""Lists of entries, newest first, page by page, and what marks them read.

Every page is one walk along an index from where the last page ended, however deep it is and however many entries
there are. A page begins below the row that the last one ended with: its `sort_at` and `entry_id`.
"""

from datetime import datetime

from sqlalchemy import ColumnElement, Integer, and_, bindparam, case, func, or_, select

from feedmill.model.times import to_text
from feedmill.store.database import Step
from feedmill.store.dialect import insert
from feedmill.store.schema import entries, feeds, subscriptions, unread, unread_lists, users

# Below this is the first page.
TOP = {"sort_at": "9999-12-31T23:59:59.999Z", "entry_id": 2**53 - 1}

# What a list shows of an entry; never its content, which stands on pages of its own.
SHOWN = (
    entries.c.id,
    entries.c.feed_id,
    entries.c.sort_at,
    entries.c.published_at,
    entries.c.link,
    entries.c.title,
    entries.c.author,
    entries.c.image_url,
    entries.c.summary,
    entries.c.revision_count,
    feeds.c.title.label("feed_title"),
)


def _below(sort_at: ColumnElement[str], entry_id: ColumnElement[int]) -> ColumnElement[bool]:
    # Not (sort_at, entry_id) < (:s, :e): MySQL reads the whole list for that.
    return and_(
        sort_at <= bindparam("sort_at"), or_(sort_at < bindparam("sort_at"), entry_id < bindparam("entry_id"))
    )


# The unread entries of a user's list (`users.unread_list_id`).
UNREAD_PAGE = (
    select(unread.c.subscription_id, *SHOWN)
    .select_from(unread.join(entries, entries.c.id == unread.c.entry_id).join(feeds, feeds.c.id == entries.c.feed_id))
    .where(unread.c.list_id == bindparam("list_id"), _below(unread.c.sort_at, unread.c.entry_id))
    .order_by(unread.c.sort_at.desc(), unread.c.entry_id.desc())
    .limit(bindparam("most", type_=Integer))
)
UNREAD_OF_SUBSCRIPTION = UNREAD_PAGE.where(unread.c.subscription_id == bindparam("subscription_id"))

# All entries of a feed, with whether each stands in the user's list.
ENTRIES_OF_FEED = (
    select(case((unread.c.entry_id.is_(None), 0), else_=1).label("is_unread"), *SHOWN)
    .select_from(
        entries.join(feeds, feeds.c.id == entries.c.feed_id).outerjoin(
            unread,
            and_(
                unread.c.list_id == bindparam("list_id"),
                unread.c.sort_at == entries.c.sort_at,
                unread.c.entry_id == entries.c.id,
            ),
        )
    )
    .where(entries.c.feed_id == bindparam("feed_id"), _below(entries.c.sort_at, entries.c.id))
    .order_by(entries.c.sort_at.desc(), entries.c.id.desc())
    .limit(bindparam("most", type_=Integer))
)

UNREAD_COUNTS = select(subscriptions.c.id, subscriptions.c.feed_id, subscriptions.c.unread_count).where(
    subscriptions.c.user_id == bindparam("user_id")
)

# All counts, also those that are 0: a refresh that counts an entry meanwhile must come before or after us, else
# its entry would land in the old list and be counted in the new one.
_FORGET_COUNTS = (
    subscriptions.update().where(subscriptions.c.user_id == bindparam("of_user")).values(unread_count=0)
)
_current_list = select(users.c.unread_list_id).where(users.c.id == bindparam("of_user")).scalar_subquery()
_RETIRE_LIST = (
    unread_lists.update().where(unread_lists.c.id == _current_list).values(retired_at=bindparam("now"))
)
_NEW_LIST = insert(unread_lists, "user_id", "created_at")
_newest_list = (
    select(func.max(unread_lists.c.id)).where(unread_lists.c.user_id == bindparam("of_user")).scalar_subquery()
)
_POINT_TO_NEWEST = users.update().where(users.c.id == bindparam("of_user")).values(unread_list_id=_newest_list)


def mark_all_read(user_id: int, now: datetime) -> list[Step]:
    """The steps that leave a user nothing unread, without touching an entry or a state."""
    return [
        Step(_FORGET_COUNTS, {"of_user": user_id}),
        Step(_RETIRE_LIST, {"of_user": user_id, "now": to_text(now)}),
        Step(_NEW_LIST, {"user_id": user_id, "created_at": to_text(now)}),
        Step(_POINT_TO_NEWEST, {"of_user": user_id}),
    ]
