"""Signs users in with name, password and, where the account has one, the second factor; signs them out again."""

from dataclasses import dataclass, field
from datetime import datetime
from secrets import token_urlsafe

from feedmill.encryption import Encryption
from feedmill.errors import BadInput, NotAllowed, NotSignedIn, WrongPassword
from feedmill.i18n.messages import Message
from feedmill.library.users import passwords, sign_in_limits
from feedmill.library.users.manage_users import normalize_user_name
from feedmill.library.users.second_factor import check_second_factor
from feedmill.model.user import ACTIVE, BROWSER, Caller, RequestOrigin, SessionProvider, User
from feedmill.settings import Settings
from feedmill.store.database import Database
from feedmill.store.users import sessions, users
from feedmill.store.users.api_keys import secret_digest


@dataclass(frozen=True, slots=True)
class Credentials:
    """What somebody signs in with; `code` is the second factor, empty if none was sent."""

    name: str
    password: str = field(repr=False)
    code: str = field(default="", repr=False)


class SecondFactorRequired(NotSignedIn):
    """The password of `user` is right, and a code is missing."""

    code = "second_factor_required"

    def __init__(self, user: User) -> None:
        super().__init__(Message("error.second_factor_required"))
        self.user = user


async def authenticate(db: Database, name: str, password: str, origin: RequestOrigin, now: datetime) -> User:
    """The user with that name and password. Every failure has the same message and takes the same time.

    Raises `SecondFactorRequired` for an account with a second factor: there the password alone opens nothing.
    """
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
    if user.has_two_factor:
        raise SecondFactorRequired(user)
    return user


async def authenticate_with_code(
    db: Database, encryption: Encryption, sent: Credentials, origin: RequestOrigin, now: datetime
) -> User:
    """The user of these credentials; raises as `authenticate` does, or `WrongCode`."""
    try:
        return await authenticate(db, sent.name, sent.password, origin, now)
    except SecondFactorRequired as error:
        if not sent.code:
            raise
        await check_second_factor(db, encryption, error.user, sent.code, origin, now)
        return error.user


async def sign_in(
    db: Database,
    encryption: Encryption,
    sent: Credentials,
    origin: RequestOrigin,
    now: datetime,
    replacing: str | None = None,
) -> tuple[str, Caller]:
    """The token of a new session, and its caller; the session that the browser had before ends."""
    user = await authenticate_with_code(db, encryption, sent, origin, now)
    return await begin_session(db, user, origin, now, replacing)


async def begin_session(
    db: Database,
    user: User,
    origin: RequestOrigin,
    now: datetime,
    replacing: str | None = None,
    provider: SessionProvider | None = None,
) -> tuple[str, Caller]:
    """Begins a browser session for a user who has just been authenticated, or has chosen the password."""
    token = token_urlsafe(32)
    ended = secret_digest(replacing) if replacing else None
    session_id = await sessions.begin_session(db, user.id, BROWSER, secret_digest(token), origin, now, ended, provider)
    return token, Caller(user, user.scopes, session_id)


async def provider_of_browser_session(db: Database, token: str) -> SessionProvider | None:
    """The provider that the session of that token was begun with; None for another way to sign in."""
    return await sessions.provider_of_session(db, secret_digest(token))


def require_password_sign_in(settings: Settings) -> None:
    """Raises `NotAllowed` if the operator has turned off signing in with a password."""
    if not settings.password_sign_in:
        raise NotAllowed(Message("error.no_password_sign_in"))


async def sign_out(db: Database, token: str) -> None:
    """Ends the browser session of that token."""
    await sessions.end_session_by_token(db, secret_digest(token))


def _normal_name(typed: str) -> str | None:
    """The normalized name; None if it cannot be a name, which fails like any other wrong name."""
    try:
        return normalize_user_name(typed)
    except BadInput:
        return None
