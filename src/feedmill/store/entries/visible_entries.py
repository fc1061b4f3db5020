"""Reads entries that a user may see, with the user's states and labels.

An entry is there for whoever subscribes to its feed, and for whoever starred or labelled it or keeps it for later.
For all others there is no such entry.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import FromClause, Join, Select, and_, bindparam, case, exists, func, or_, select

from feedmill.store.database import Database, Row
from feedmill.store.dialect import as_list, one_of
from feedmill.store.entries.unread_lists import UNREAD_LIST_ID, of_user
from feedmill.store.schema import entries, entry_labels, feeds, full_texts, labels, states, subscriptions, unread
from feedmill.store.subscriptions.feed_settings import decode_settings

# Enough for a few lines of text with the tags around it.
BEGINNING = 2000

_subscribed = and_(subscriptions.c.feed_id == entries.c.feed_id, of_user)
_own_state = and_(states.c.entry_id == entries.c.id, states.c.user_id == bindparam("of_user"))
_unread_row = and_(
    unread.c.list_id == UNREAD_LIST_ID, unread.c.sort_at == entries.c.sort_at, unread.c.entry_id == entries.c.id
)
_own_label = labels.c.user_id == bindparam("of_user")
_is_labelled = exists().where(
    entry_labels.c.entry_id == entries.c.id, labels.c.id == entry_labels.c.label_id, _own_label
)
_is_kept = or_(subscriptions.c.id.is_not(None), states.c.starred_at.is_not(None), states.c.later_at.is_not(None))
_may_see = or_(_is_kept, _is_labelled)


def _with_what_was_done(source: FromClause) -> Join:
    """The source, which has entries in it, with what the user has to do with each of them."""
    return (
        source.join(feeds, feeds.c.id == entries.c.feed_id)
        .outerjoin(subscriptions, _subscribed)
        .outerjoin(states, _own_state)
        .outerjoin(unread, _unread_row)
    )


def _with_labels(source: Join) -> Join:
    """A row for each label that anybody put on an entry, or one; the label is there if it is the user's."""
    return source.outerjoin(entry_labels, entry_labels.c.entry_id == entries.c.id).outerjoin(
        labels, and_(labels.c.id == entry_labels.c.label_id, _own_label)
    )


_seen = _with_what_was_done(entries)
_states: tuple[Any, ...] = (
    subscriptions.c.id.label("subscription_id"),
    func.coalesce(subscriptions.c.title, feeds.c.own_title, feeds.c.title).label("feed_title"),
    case((unread.c.entry_id.is_(None), 0), else_=1).label("is_unread"),
    states.c.read_at,
    states.c.starred_at,
    states.c.later_at,
    states.c.later_until,
)

# Its content stands on pages of its own: read only where the feed sends nothing shorter, and then its beginning.
_beginning = func.coalesce(entries.c.summary, func.substr(entries.c.content_html, 1, BEGINNING))
_may_see_row = or_(_is_kept, labels.c.id.is_not(None))
_shown = select(
    entries.c.id,
    entries.c.feed_id,
    entries.c.sort_at,
    entries.c.published_at,
    entries.c.link,
    entries.c.title,
    entries.c.author,
    entries.c.image_url,
    _beginning.label("beginning"),
    entries.c.revision_count,
    func.coalesce(entries.c.language, feeds.c.language).label("language"),
    *_states,
    labels.c.id.label("label_id"),
    labels.c.name.label("label"),
    case((_may_see_row, 1), else_=0).label("may_see"),
)
SUMMARIES = _shown.select_from(_with_labels(_seen)).where(one_of(entries.c.id, "ids"))
# A row for each way in which its whole article was cut out of its page, or one.
ENTRY = (
    select(
        entries,
        *_states,
        subscriptions.c.settings,
        full_texts.c.recipe.label("full_recipe"),
        full_texts.c.content_html.label("full_html"),
        full_texts.c.url.label("full_url"),
    )
    .select_from(_seen.outerjoin(full_texts, full_texts.c.entry_id == entries.c.id))
    .where(entries.c.id == bindparam("entry_id"), _may_see)
)
VISIBLE = select(entries.c.id, feeds.c.archive_policy).select_from(_seen).where(one_of(entries.c.id, "ids"), _may_see)


def select_summaries(keys: FromClause) -> Select[Any]:
    """The statement for what lists show of the entries of `keys` (`entry_id`), found and shown in one."""
    named = keys.join(entries, entries.c.id == keys.c.entry_id)
    return _shown.select_from(_with_labels(_with_what_was_done(named)))


def group_by_entry(rows: Iterable[Row]) -> dict[int, list[Row]]:
    """What is shown of each entry, a row for each label; no rows for one that the user may not see."""
    found: dict[int, list[Row]] = {}
    for row in rows:
        of_entry = found.setdefault(row["id"], [])
        if row["may_see"]:
            of_entry.append(row)
    return found


async def read_entry_summaries(db: Database, user_id: int, ids: Sequence[int]) -> dict[int, list[Row]]:
    """What lists show of these entries, in no order."""
    return group_by_entry(await db.query(SUMMARIES, {"of_user": user_id, "ids": as_list(list(ids))}))


async def visible_entry(db: Database, user_id: int, entry_id: int) -> Row | None:
    """Everything that is kept of an entry, with the whole article as they want it cut; None when there is none."""
    rows = await db.query(ENTRY, {"of_user": user_id, "entry_id": entry_id})
    if not rows:
        return None
    recipe = decode_settings(rows[0]["settings"]).recipe
    none_such = {**rows[0], "full_html": None, "full_url": None}
    return next((row for row in rows if row["full_recipe"] == recipe), none_such)


async def visible_entries(db: Database, user_id: int, ids: Sequence[int]) -> dict[int, str]:
    """Which of these the user may see, each with its feed's archive policy."""
    rows = await db.query(VISIBLE, {"of_user": user_id, "ids": as_list(list(ids))})
    return {row["id"]: row["archive_policy"] for row in rows}
