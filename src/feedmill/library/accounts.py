"""Accounts: the first one, further ones, and passwords changed."""

import re
import unicodedata
from dataclasses import replace
from datetime import datetime

from feedmill.errors import BadInput
from feedmill.library import passwords, throttle
from feedmill.model.account import DISABLED, Actor, Caller, Origin, User
from feedmill.store import accounts, sessions
from feedmill.store.administration import change_account, delete_account
from feedmill.store.audit import write_down
from feedmill.store.database import Database
from feedmill.store.first_admin import add_first_admin
from feedmill.store.subscribers import end_subscription
from feedmill.store.subscriptions import subscriptions_of

LONGEST_NAME = 64
_NAME = re.compile(r"[\w.@+-]+")


def normal_name(name: str) -> str:
    """The one form of a name, however it was typed; `BadInput` for what can't be one."""
    normal = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).strip().casefold())
    if not _NAME.fullmatch(normal) or not any(letter.isalnum() for letter in normal) or len(normal) > LONGEST_NAME:
        raise BadInput(f"A name has 1 to {LONGEST_NAME} letters, digits or . _ - @ +", field="name")
    return normal


async def needs_setup(db: Database) -> bool:
    """Whether there is no account yet."""
    return await accounts.count_users(db) == 0


async def set_up(db: Database, name: str, password: str, now: datetime) -> User:
    """Makes the admin, who is subscribed to every feed that is there; `AlreadySetUp` for whoever comes second."""
    normal = normal_name(name)
    passwords.refuse_weak(password)
    return await add_first_admin(db, normal, await passwords.hashed(password), now)


async def add_account(db: Database, name: str, password: str, is_admin: bool, now: datetime, by: Actor) -> User:
    """A further account; `NameTaken` when somebody has that name."""
    normal = normal_name(name)
    passwords.refuse_weak(password)
    return await accounts.add_user(db, normal, await passwords.hashed(password), is_admin, now, by)


async def change_password(db: Database, who: Caller, current: str, new: str, origin: Origin, now: datetime) -> None:
    """A new password for who knows the current one; it ends every session but the one it is changed in."""
    passwords.refuse_weak(new)
    place = throttle.Place(who.user.name, origin.address)
    await throttle.wait_turn(db, place, now)
    found = await accounts.password_of(db, who.user.name)
    if not await passwords.matches(found[1] if found else None, current):
        raise BadInput("The current password is wrong.", field="current")
    await db.batch(throttle.succeeded(place))
    await set_password(db, who.user, new, who.session_id, now, Actor(who.user.id, origin.address))


async def set_password(db: Database, user: User, new: str, but_session: int | None, now: datetime, by: Actor) -> None:
    """A new password without the old one, as an admin gives it; it ends every session but `but_session`."""
    passwords.refuse_weak(new)
    await db.batch(
        [
            accounts.set_password(user.id, await passwords.hashed(new)),
            sessions.end_others(user.id, but_session),
            write_down(by, "user.password", user.name, now),
        ]
    )


async def remove_account(db: Database, user: User, by: Actor, now: datetime) -> None:
    """Ends an account: signed out first, then its subscriptions, then whatever else was theirs."""
    await change_account(db, user, replace(user, status=DISABLED), by, now)
    for subscription in await subscriptions_of(db, user.id):
        await end_subscription(db, user.id, subscription)
    await delete_account(db, user, by, now)
