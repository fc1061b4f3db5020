"""Signing in with name and password, and out again."""

from datetime import datetime
from secrets import token_urlsafe

from feedmill.errors import BadInput, WrongPassword
from feedmill.library import passwords, throttle
from feedmill.library.accounts import normal_name
from feedmill.model.account import ACTIVE, BROWSER, Caller, Origin, User
from feedmill.store import accounts, sessions
from feedmill.store.database import Database
from feedmill.store.tokens import digest


async def authenticate(db: Database, name: str, password: str, origin: Origin, now: datetime) -> User:
    """The user of that name, if the password is theirs; whatever is wrong sounds and takes the same."""
    known = _name(name)
    place = throttle.Place(known or name, origin.address)
    await throttle.wait_turn(db, place, now)
    found = await accounts.password_of(db, known) if known else None
    user, password_hash = found or (None, None)
    if not await passwords.matches(password_hash, password) or user is None or user.status != ACTIVE:
        raise WrongPassword
    await db.batch(throttle.succeeded(place))
    if password_hash and passwords.is_outdated(password_hash):
        await db.batch([accounts.rehash(user.id, password_hash, await passwords.hashed(password))])
    return user


async def sign_in(
    db: Database, name: str, password: str, origin: Origin, now: datetime, replacing: str | None = None
) -> tuple[str, Caller]:
    """A new session's token, and who it speaks for; the session that the browser held before ends."""
    user = await authenticate(db, name, password, origin, now)
    return await begin_session(db, user, origin, now, replacing)


async def begin_session(
    db: Database, user: User, origin: Origin, now: datetime, replacing: str | None = None
) -> tuple[str, Caller]:
    """A new browser session for somebody who has just shown or chosen the password."""
    token = token_urlsafe(32)
    ended = digest(replacing) if replacing else None
    session_id = await sessions.begin(db, user.id, BROWSER, digest(token), origin, now, ended)
    return token, Caller(user, user.scopes, session_id)


async def sign_out(db: Database, token: str) -> None:
    """Ends the browser session of that token."""
    await sessions.end_by_token(db, digest(token))


def _name(typed: str) -> str | None:
    """The name that is meant; None for what can be none, which is refused like any other wrong one."""
    try:
        return normal_name(typed)
    except BadInput:
        return None
