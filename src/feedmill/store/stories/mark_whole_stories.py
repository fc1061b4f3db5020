"""Finds what mark-all-read marks besides: unread entries of the stories that it marks.

A story is marked if the list shows it among what is marked. So an entry is marked with an earlier one of its story. It
is also marked with a later one if it is not in that list itself, as an entry of another folder. An earlier one in the
same list stays unread: it stands elsewhere in the list, and the user has not marked it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, case, not_, select

from feedmill.store.database import Database, Row
from feedmill.store.dialect import as_list, one_of
from feedmill.store.entries.unread_list_sql import UNREAD_LIST_ID, of_user
from feedmill.store.schema import entries, story_entries, subscriptions, unread
from feedmill.store.stories.story_switches import takes_part


class StoryStatements(NamedTuple):
    """The stories of what is marked, those of what is kept, and all unread entries of stories."""

    of_marked: Select[Any]
    of_kept: Select[Any]
    unread_entries: Select[Any]


def story_statements(is_marked: ColumnElement[bool], is_in_list: ColumnElement[bool]) -> StoryStatements:
    """The statements for a part of a list; both conditions are on rows of `unread`."""
    in_list = unread.c.list_id == UNREAD_LIST_ID
    stands = and_(in_list, unread.c.sort_at == entries.c.sort_at, unread.c.entry_id == entries.c.id)
    stories = (
        select(story_entries.c.story_id)
        .select_from(unread.join(story_entries, story_entries.c.entry_id == unread.c.entry_id))
        .distinct()
    )
    source = (
        story_entries.join(entries, entries.c.id == story_entries.c.entry_id)
        .join(unread, stands)
        .join(subscriptions, and_(subscriptions.c.id == unread.c.subscription_id, of_user, takes_part(subscriptions)))
    )
    columns = (
        story_entries.c.story_id,
        story_entries.c.entry_id,
        unread.c.subscription_id,
        case((is_marked, 1), else_=0).label("is_marked"),
        case((is_in_list, 1), else_=0).label("is_in_list"),
    )
    return StoryStatements(
        stories.where(in_list, is_marked),
        stories.where(in_list, not_(is_marked)),
        select(*columns).select_from(source).where(one_of(story_entries.c.story_id, "stories")),
    )


async def find_copies_to_mark(
    db: Database, statements: StoryStatements, params: Mapping[str, Any], fewer_marked: bool
) -> list[int]:
    """The entries to mark besides. `fewer_marked`: fewer are marked than kept, so their stories are looked at."""
    stories = await db.query(statements.of_marked if fewer_marked else statements.of_kept, params)
    if not stories:
        return []
    ids = as_list([row["story_id"] for row in stories])
    return choose_copies(await db.query(statements.unread_entries, {**params, "stories": ids}))


def choose_copies(rows: Sequence[Row]) -> list[int]:
    """Those of the unread entries of stories that are marked besides."""
    marked: dict[int, list[Row]] = {}
    for row in rows:
        if row["is_marked"]:
            marked.setdefault(row["story_id"], []).append(row)
    return sorted(
        row["entry_id"]
        for row in rows
        if not row["is_marked"] and any(_is_read_with(row, other) for other in marked.get(row["story_id"], ()))
    )


def _is_read_with(row: Row, marked: Row) -> bool:
    """Whether an entry is marked with another one of its story. Those of one feed are no copies of each other."""
    if row["subscription_id"] == marked["subscription_id"]:
        return False
    return not row["is_in_list"] or marked["entry_id"] < row["entry_id"]
