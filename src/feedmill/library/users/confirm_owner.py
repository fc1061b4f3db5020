"""Asks a signed-in user once more for the password, and for the second factor if the account has one."""

from dataclasses import dataclass, field
from datetime import datetime

from feedmill.encryption import Encryption
from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.library.users import passwords, sign_in_limits
from feedmill.library.users.second_factor import WrongCode, check_second_factor
from feedmill.model.user import Caller, RequestOrigin
from feedmill.store.database import Database
from feedmill.store.users import users


@dataclass(frozen=True, slots=True)
class OwnerProof:
    """What the owner of an account typed: the current password, and a code where there is a second factor."""

    password: str = field(repr=False)
    code: str = field(default="", repr=False)


async def confirm_owner(
    db: Database, encryption: Encryption, who: Caller, proof: OwnerProof, origin: RequestOrigin, now: datetime
) -> None:
    """Raises `BadInput` for the field `current` or `code`, or `LimitExceeded` after many failures."""
    source = sign_in_limits.AttemptSource(who.user.name, origin.address)
    await sign_in_limits.count_attempt(db, source, now)
    user, password_hash = await users.user_with_password_hash(db, who.user.name) or (who.user, None)
    if not await passwords.verify_password(password_hash, proof.password):
        raise BadInput(Message("error.wrong_current_password"), field="current")
    await db.batch(sign_in_limits.forget_attempts(source))
    if user.has_two_factor:
        try:
            await check_second_factor(db, encryption, user, proof.code, origin, now)
        except WrongCode as error:
            raise BadInput(error.message, field="code") from error
