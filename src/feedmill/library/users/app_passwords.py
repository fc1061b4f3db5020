"""Creates, lists, checks and revokes app passwords, with which reader apps sign in.

An app password is not the password of the account. It opens the APIs of reader apps alone, for reading, marking and
subscribing. Only a person in a browser, or the operator on the command line, creates one.
"""

from datetime import datetime
from hashlib import md5

from feedmill.errors import BadInput, LimitExceeded, NotAllowed, NotFound, WrongPassword
from feedmill.i18n.messages import Message
from feedmill.library.users.manage_users import normalize_user_name
from feedmill.library.users.readable_secrets import new_readable_secret
from feedmill.library.users.sign_in_limits import AttemptSource, count_attempt
from feedmill.model.user import READ, WRITE, AppPassword, Caller, RequestOrigin, User
from feedmill.store.database import Database
from feedmill.store.entries.fill_deferred_entries import fill_first_deferred
from feedmill.store.users.api_keys import secret_digest
from feedmill.store.users.app_passwords import (
    add_app_password,
    app_passwords_of,
    find_app_password,
    find_app_password_holder,
    find_fever_holder,
    record_app_password_use,
    revoke_app_password_of_user,
)

MAX_APP_PASSWORDS = 100
LONGEST_NAME = 100
# Twenty characters are 99 bits.
GROUPS = 5
APP_SCOPES = frozenset({READ, WRITE})


async def create_app_password(
    db: Database, who: Caller, name: str, now: datetime, *, allows_fever: bool = False
) -> tuple[str, AppPassword]:
    """The password, which is not stored and cannot be shown again, and what is known of it."""
    if who.api_key is not None or who.app_password is not None:
        raise NotAllowed(Message("error.app_password_maker"))
    device = " ".join(name.split())
    if not 1 <= len(device) <= LONGEST_NAME:
        raise BadInput(Message("error.app_password_name", most=LONGEST_NAME), field="name")
    if len(await app_passwords_of(db, who.user.id)) >= MAX_APP_PASSWORDS:
        raise LimitExceeded(Message("error.too_many_app_passwords", most=MAX_APP_PASSWORDS))
    password = new_readable_secret(GROUPS)
    fever_hash = secret_digest(fever_key(who.user.name, password)) if allows_fever else None
    added = await add_app_password(db, who.user.id, device, secret_digest(password), fever_hash, now, who.session_id)
    return password, added


async def list_app_passwords(db: Database, who: Caller) -> list[AppPassword]:
    """The caller's valid app passwords, the newest first."""
    return await app_passwords_of(db, who.user.id)


async def revoke_app_password(db: Database, who: Caller, password_id: int, now: datetime) -> None:
    """Revokes an app password of the caller's; raises `NotFound`, also for others'."""
    if not await revoke_app_password_of_user(db, who.user.id, password_id, now):
        raise NotFound(Message("error.no_such_app_password"))


async def sign_in_app(db: Database, name: str, password: str, origin: RequestOrigin, now: datetime) -> Caller:
    """The caller with this name and app password; raises `WrongPassword`, or `LimitExceeded` after many failures."""
    found = await find_app_password_holder(db, secret_digest(password)) if password else None
    if found is None or found[0].name != _normal_name(name):
        return await _refuse(db, name, origin, now)
    return await _caller(db, *found, origin, now)


async def caller_of_app_token(db: Database, token: str, origin: RequestOrigin, now: datetime) -> Caller:
    """The caller of an app that sends the app password alone; raises as `sign_in_app` does."""
    found = await find_app_password_holder(db, secret_digest(token)) if token else None
    return await (_refuse(db, "", origin, now) if found is None else _caller(db, *found, origin, now))


async def caller_of_fever_key(db: Database, key: str, origin: RequestOrigin, now: datetime) -> Caller:
    """The caller of an app that sends a Fever key; raises as `sign_in_app` does."""
    found = await find_fever_holder(db, secret_digest(key.lower())) if key else None
    return await (_refuse(db, "", origin, now) if found is None else _caller(db, *found, origin, now))


async def caller_of_password_id(
    db: Database, password_id: int, origin: RequestOrigin, now: datetime, *, reads_lists: bool = True
) -> Caller | None:
    """The caller of an app that signed in before with the app password of this id; None if it was revoked.

    `reads_lists`: whether the request may read unread entries, so that the list must be filled first.
    """
    found = await find_app_password(db, password_id)
    return None if found is None else await _caller(db, *found, origin, now, reads_lists)


def fever_key(name: str, password: str) -> str:
    """What Fever apps send: its weakness is not ours, because the password is random and long."""
    return md5(f"{name}:{password}".encode(), usedforsecurity=False).hexdigest()


async def _caller(
    db: Database, user: User, password: AppPassword, origin: RequestOrigin, now: datetime, reads_lists: bool = True
) -> Caller:
    await record_app_password_use(db, user, password, origin, now)
    if reads_lists:
        await fill_first_deferred(db, user.id)
    return Caller(user, APP_SCOPES, app_password=password)


async def _refuse(db: Database, name: str, origin: RequestOrigin, now: datetime) -> Caller:
    """Counts a failure by name and address, as at sign-in. A right password is never refused for others' failures."""
    await count_attempt(db, AttemptSource(_normal_name(name) or name, origin.address, "apps"), now)
    raise WrongPassword


def _normal_name(typed: str) -> str | None:
    try:
        return normalize_user_name(typed)
    except BadInput:
        return None
