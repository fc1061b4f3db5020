"""SQL that is shared by all changes of unread lists: a user's list, the lock, the recount of unread entries.

Unread lists and the unread counts of subscriptions are always changed together.

Every change locks the subscriptions concerned first (`LOCK…`). So two changes run one after the other, and the later
one sees the result of the earlier one. A refresh does the same by updating the counts before it adds its rows.
"""

from sqlalchemy import ColumnElement, Update, bindparam, func, select

from feedmill.store.schema import subscriptions, unread, users

of_user = subscriptions.c.user_id == bindparam("of_user")
UNREAD_LIST_ID = select(users.c.unread_list_id).where(users.c.id == bindparam("of_user")).scalar_subquery()
"""The list in which the entries of `of_user` stand that are unread."""

LOCK_ALL = select(subscriptions.c.id).where(of_user).order_by(subscriptions.c.id).with_for_update()


def recount(*which: ColumnElement[bool]) -> Update:
    """Recounts the user's unread entries of these subscriptions."""
    held = select(func.count()).where(
        unread.c.list_id == UNREAD_LIST_ID, unread.c.subscription_id == subscriptions.c.id
    )
    return subscriptions.update().where(of_user, *which).values(unread_count=held.scalar_subquery())


RECOUNT = recount()
