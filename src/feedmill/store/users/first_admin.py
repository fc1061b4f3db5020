"""Creates the first admin, subscribed to every feed that was collected before."""

from datetime import datetime

from sqlalchemy import bindparam, select

from feedmill.errors import AlreadySetUp, ConstraintViolated
from feedmill.i18n.messages import Message
from feedmill.model.timestamps import to_iso
from feedmill.model.user import Actor, User
from feedmill.store.admin.audit_log import step_to_audit
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.entries.fill_unread_list import fill_unread_list
from feedmill.store.schema import feeds, instance_state, subscriptions, users
from feedmill.store.users.users import count_users, steps_to_add_user, user_of_name

# Not insert_new: a second admin must be refused, with the whole batch.
ONCE = insert(instance_state, "name", "value")
SUBSCRIBE = subscriptions.insert().from_select(
    ["user_id", "feed_id", "created_at"],
    select(users.c.id, feeds.c.id, bindparam("at")).where(users.c.name == bindparam("of_name")),
)


async def add_first_admin(db: Database, name: str, password_hash: str, now: datetime) -> User:
    """Creates the first admin, subscribed to every stored feed; raises `AlreadySetUp` if there is a user already."""
    at = to_iso(now)
    if await count_users(db):
        raise AlreadySetUp(Message("error.already_set_up"))
    try:
        await db.batch(
            [
                Step(ONCE, {"name": "set_up_at", "value": at}),
                *steps_to_add_user(name, password_hash, True, now),
                Step(SUBSCRIBE, {"of_name": name, "at": at}),
                step_to_audit(Actor(), "user.set_up", name, now),
            ]
        )
    except ConstraintViolated as error:
        raise AlreadySetUp(Message("error.already_set_up")) from error
    user = await user_of_name(db, name)
    if user is None:
        raise AssertionError(f"{name} was added and is not there")
    await fill_unread_list(db, user.id)
    return user
