"""Undoes mark-all-read, or a change of many marks, while its retired list exists.

The smaller list moves into the larger one, whichever of them is current. Entries that were read one by one since then
stay read.
"""

from datetime import datetime, timedelta

from sqlalchemy import and_, bindparam, func, select

from feedmill.model.timestamps import to_iso
from feedmill.store.columns import Id
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert_selected
from feedmill.store.entries.mark_all_read import UNREAD_TOTAL
from feedmill.store.entries.replaced_marks import steps_to_restore
from feedmill.store.entries.unread_list_sql import LOCK_ALL, RECOUNT, UNREAD_LIST_ID
from feedmill.store.schema import entries, states, unread, unread_lists, users

UNDO_FOR = timedelta(days=1)

RETIRED = select(unread_lists.c.id, unread_lists.c.retired_at, unread_lists.c.replaced_marks).where(
    unread_lists.c.user_id == bindparam("of_user"),
    unread_lists.c.token == bindparam("undo"),
    unread_lists.c.retired_at >= bindparam("since"),
)
SIZE = select(func.count().label("n")).where(unread.c.list_id == bindparam("retired"))

_is_retired = unread.c.list_id == bindparam("retired")
_read_since = and_(states.c.user_id == bindparam("of_user"), states.c.read_at >= bindparam("since"))
_times = select(entries.c.sort_at).join(states, states.c.entry_id == entries.c.id).where(_read_since)
STAY_READ = unread.delete().where(
    _is_retired, unread.c.sort_at.in_(_times), (unread.c.entry_id + 0).in_(select(states.c.entry_id).where(_read_since))
)
_rest = (unread.c.sort_at.label("b"), unread.c.entry_id.label("c"), unread.c.subscription_id.label("d"))
COPY_TO_CURRENT = insert_selected(unread, select(UNREAD_LIST_ID.label("a"), *_rest).where(_is_retired))
DROP_RETIRED = unread.delete().where(_is_retired)
# Retired anew, so that programs see that the user's list changed.
FORGET_TOKEN = (
    unread_lists.update()
    .where(unread_lists.c.id == bindparam("retired"))
    .values(token=None, retired_at=bindparam("now"))
)

COPY_TO_RETIRED = insert_selected(
    unread, select(bindparam("retired", type_=Id).label("a"), *_rest).where(unread.c.list_id == UNREAD_LIST_ID)
)
RETIRE_CURRENT = (
    unread_lists.update().where(unread_lists.c.id == UNREAD_LIST_ID).values(token=None, retired_at=bindparam("now"))
)
POINT_BACK = users.update().where(users.c.id == bindparam("of_user")).values(unread_list_id=bindparam("retired"))
IN_USE = unread_lists.update().where(unread_lists.c.id == bindparam("retired")).values(token=None, retired_at=None)

INTO_CURRENT_LIST = (LOCK_ALL, STAY_READ, COPY_TO_CURRENT, DROP_RETIRED, FORGET_TOKEN, RECOUNT)
INTO_RETIRED_LIST = (LOCK_ALL, STAY_READ, COPY_TO_RETIRED, RETIRE_CURRENT, POINT_BACK, IN_USE, RECOUNT)


async def restore_retired_list(db: Database, user_id: int, token: str, now: datetime) -> bool:
    """Undoes what was marked under the token. False when it is unknown or has expired."""
    params = {"of_user": user_id, "undo": token, "since": to_iso(now - UNDO_FOR), "now": to_iso(now)}
    found = await db.query(RETIRED, params)
    if not found:
        return False
    params |= {"retired": found[0]["id"], "since": found[0]["retired_at"]}
    if kept := found[0]["replaced_marks"]:
        await db.batch([*steps_to_restore(user_id, kept, now), Step(FORGET_TOKEN, params)])
        return True
    [size], [current] = await db.query(SIZE, params), await db.query(UNREAD_TOTAL, params)
    statements = INTO_CURRENT_LIST if size["n"] <= current["n"] else INTO_RETIRED_LIST
    await db.batch([Step(statement, params) for statement in statements])
    return True
