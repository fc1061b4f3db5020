"""Confirmation tokens: what can't be undone is first described, and done with a token of that description.

    {time of expiry}.{random}.{HMAC-SHA256 of user, action, target, expiry and random}

Any process with the secret key of the instance checks a token; that it was used is a row of the database.
"""

import hmac
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from secrets import token_hex

from feedmill.errors import CallerError
from feedmill.i18n.messages import Message
from feedmill.store.database import Database
from feedmill.store.users.used_confirmations import use_confirmation

LIFETIME = timedelta(minutes=5)
MAX_LENGTH = 200
_PURPOSE = b"feedmill confirmation tokens, version 1"


class BadConfirmation(CallerError):
    """The token is none of ours, or belongs to another user, action or target."""

    code = "bad_confirmation"

    def __init__(self) -> None:
        super().__init__(Message("error.bad_confirmation"))


class ConfirmationExpired(CallerError):
    """The token was right, and it is too late."""

    code = "confirmation_expired"

    def __init__(self) -> None:
        super().__init__(Message("error.confirmation_expired"))


class ConfirmationUsed(CallerError):
    """The token was used before."""

    code = "confirmation_used"

    def __init__(self) -> None:
        super().__init__(Message("error.confirmation_used"))


@dataclass(frozen=True, slots=True)
class ConfirmableAction:
    """What a user confirms: `target` names everything that decides what happens."""

    user_id: int
    action: str
    target: str


@dataclass(frozen=True, slots=True)
class ConfirmationToken:
    token: str
    expires_at: datetime


def make_confirmation(secret_key: str, action: ConfirmableAction, now: datetime) -> ConfirmationToken:
    """A token with which this action, and no other, can be done once."""
    expires = int((now + LIFETIME).timestamp())
    head = f"{expires}.{token_hex(16)}"
    return ConfirmationToken(f"{head}.{_signature(secret_key, action, head)}", datetime.fromtimestamp(expires, UTC))


async def use_confirmation_token(
    db: Database, secret_key: str, action: ConfirmableAction, token: str, now: datetime
) -> None:
    """Uses the token up; raises `BadConfirmation`, `ConfirmationExpired` or `ConfirmationUsed`."""
    head, _, signature = token.rpartition(".")
    if len(token) > MAX_LENGTH or not token.isascii():
        raise BadConfirmation
    if not hmac.compare_digest(_signature(secret_key, action, head), signature):
        raise BadConfirmation
    expires_at = datetime.fromtimestamp(int(head.partition(".")[0]), UTC)
    if expires_at <= now:
        raise ConfirmationExpired
    if not await use_confirmation(db, sha256(head.encode()).hexdigest(), expires_at, now):
        raise ConfirmationUsed


def _signature(secret_key: str, action: ConfirmableAction, head: str) -> str:
    key = hmac.digest(secret_key.encode(), _PURPOSE, "sha256")
    signed = json.dumps([action.user_id, action.action, action.target, head])
    return hmac.new(key, signed.encode(), sha256).hexdigest()
