"""Signs users in with name and password, and out again."""

from datetime import datetime
from secrets import token_urlsafe

from feedmill.errors import BadInput, WrongPassword
from feedmill.library.users import passwords, sign_in_limits
from feedmill.library.users.manage_users import normalize_user_name
from feedmill.model.user import ACTIVE, BROWSER, Caller, RequestOrigin, User
from feedmill.store.database import Database
from feedmill.store.users import sessions, users
from feedmill.store.users.api_keys import secret_digest


async def authenticate(db: Database, name: str, password: str, origin: RequestOrigin, now: datetime) -> User:
    """The user with that name and password. Every failure has the same message and takes the same time."""
    normal = _normal_name(name)
    source = sign_in_limits.AttemptSource(normal or name, origin.address)
    await sign_in_limits.count_attempt(db, source, now)
    found = await users.user_with_password_hash(db, normal) if normal else None
    user, password_hash = found or (None, None)
    if not await passwords.verify_password(password_hash, password) or user is None or user.status != ACTIVE:
        raise WrongPassword
    await db.batch(sign_in_limits.forget_attempts(source))
    if password_hash and passwords.is_outdated(password_hash):
        await db.batch([users.step_to_rehash_password(user.id, password_hash, await passwords.hash_password(password))])
    return user


async def sign_in(
    db: Database, name: str, password: str, origin: RequestOrigin, now: datetime, replacing: str | None = None
) -> tuple[str, Caller]:
    """The token of a new session, and its caller; the session that the browser had before ends."""
    user = await authenticate(db, name, password, origin, now)
    return await begin_session(db, user, origin, now, replacing)


async def begin_session(
    db: Database, user: User, origin: RequestOrigin, now: datetime, replacing: str | None = None
) -> tuple[str, Caller]:
    """Begins a browser session for a user who has just entered or chosen the password."""
    token = token_urlsafe(32)
    ended = secret_digest(replacing) if replacing else None
    session_id = await sessions.begin_session(db, user.id, BROWSER, secret_digest(token), origin, now, ended)
    return token, Caller(user, user.scopes, session_id)


async def sign_out(db: Database, token: str) -> None:
    """Ends the browser session of that token."""
    await sessions.end_session_by_token(db, secret_digest(token))


def _normal_name(typed: str) -> str | None:
    """The normalized name; None if it cannot be a name, which fails like any other wrong name."""
    try:
        return normalize_user_name(typed)
    except BadInput:
        return None
