"""Finds the user that was named on the command line."""

from feedmill.errors import CallerError
from feedmill.library.users.manage_users import normalize_user_name
from feedmill.model.user import User
from feedmill.store.database import Database
from feedmill.store.entries.fill_deferred_entries import fill_deferred
from feedmill.store.users.users import user_of_name


class UnknownUser(CallerError):
    """There is no such account."""


async def find_user(db: Database, name: str) -> User:
    """The user with an unread list that is up to date; raises `UnknownUser`."""
    user = await user_of_name(db, normalize_user_name(name))
    if user is None:
        raise UnknownUser(f"there is no account {name}: 'feedmill user list' lists all accounts")
    await fill_deferred(db, user.id)
    return user
