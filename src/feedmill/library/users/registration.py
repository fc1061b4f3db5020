"""Lets visitors register, where the operator allows it."""

from datetime import datetime

from feedmill.errors import NotAllowed
from feedmill.i18n.messages import Message
from feedmill.library.users import manage_users, sign_in_limits
from feedmill.model.user import Actor, RequestOrigin, User
from feedmill.settings import Settings
from feedmill.store.database import Database


async def is_registration_open(db: Database, settings: Settings) -> bool:
    """Whether visitors may register: not before there is an admin."""
    return settings.registration and settings.password_sign_in and not await manage_users.needs_setup(db)


async def register_user(
    db: Database, settings: Settings, name: str, password: str, origin: RequestOrigin, now: datetime
) -> User:
    """Creates the user; raises `NotAllowed` unless the setting `registration` is on, and `NameTaken`."""
    if not await is_registration_open(db, settings):
        raise NotAllowed(Message("error.no_registration"))
    # Counted like a sign-in attempt: it costs as much, and it tells which names are taken.
    await sign_in_limits.count_attempt(db, sign_in_limits.AttemptSource("", origin.address), now)
    return await manage_users.make_user(db, name, password, False, now, Actor(None, origin.address))
