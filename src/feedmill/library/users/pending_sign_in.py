"""The state between password and code: a signed token that a browser keeps for a few minutes.

It is no session: it opens nothing but the form for the code. It is signed with the key of the instance, so that every
web process knows it, and with the hash of the password, so that a new password ends it.
"""

import hmac
import re
from datetime import datetime, timedelta
from hashlib import sha256
from typing import NamedTuple

from feedmill.encryption import Encryption
from feedmill.library.users.second_factor import check_second_factor
from feedmill.library.users.sign_in import begin_session
from feedmill.model.user import ACTIVE, Caller, RequestOrigin, User
from feedmill.store.database import Database
from feedmill.store.users.users import user_of_id_with_password_hash

PENDING_FOR = timedelta(minutes=10)
_TOKEN = re.compile(r"([0-9]{1,15})\.([0-9]{1,15})\.([0-9a-f]{64})")


class PendingToken(NamedTuple):
    """What a token says: who has entered the password, and until when it is valid."""

    user_id: int
    expires: int
    signature: str


async def begin_pending_sign_in(db: Database, key: str, user: User, now: datetime) -> str:
    """The token for a user who has just entered the right password; `key` is the secret key of the instance."""
    found = await user_of_id_with_password_hash(db, user.id)
    expires = int((now + PENDING_FOR).timestamp())
    return f"{user.id}.{expires}.{_signature(key, user.id, expires, found[1] if found else None)}"


async def find_pending_user(db: Database, key: str, token: str, now: datetime) -> User | None:
    """The user of a token; None if it is not ours or has expired, or if the password was changed since."""
    read = read_pending_token(token)
    if read is None or read.expires <= now.timestamp():
        return None
    user, password_hash = await user_of_id_with_password_hash(db, read.user_id) or (None, None)
    if user is None or user.status != ACTIVE or not user.has_two_factor:
        return None
    expected = _signature(key, user.id, read.expires, password_hash)
    return user if hmac.compare_digest(expected, read.signature) else None


def read_pending_token(token: str) -> PendingToken | None:
    """The parts of a token, before its signature is checked; None for what is no token."""
    parts = _TOKEN.fullmatch(token)
    return PendingToken(int(parts[1]), int(parts[2]), parts[3]) if parts else None


async def finish_sign_in(
    db: Database,
    encryption: Encryption,
    user: User,
    code: str,
    origin: RequestOrigin,
    now: datetime,
    replacing: str | None = None,
) -> tuple[str, Caller]:
    """The token of a new session for the user of a pending sign-in, and its caller; raises `WrongCode`."""
    await check_second_factor(db, encryption, user, code, origin, now)
    return await begin_session(db, user, origin, now, replacing)


def _signature(key: str, user_id: int, expires: int, password_hash: str | None) -> str:
    signed = f"second factor of {user_id} until {expires} with {password_hash}"
    return hmac.new(key.encode(), signed.encode(), sha256).hexdigest()
