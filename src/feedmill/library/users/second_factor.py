"""Checks the second factor of a user: a code of the authenticator app, or a recovery code.

Each code is accepted once, on any number of processes. Attempts are limited like those with a password.
"""

import unicodedata
from datetime import datetime, timedelta

from feedmill.encryption import Encryption
from feedmill.errors import NotSignedIn
from feedmill.i18n.messages import Message
from feedmill.lazy_loggers import get_logger
from feedmill.library.users.recovery_codes import recovery_code_digest
from feedmill.library.users.sign_in_limits import AttemptLimit, AttemptSource, count_attempt, forget_attempts
from feedmill.library.users.totp import DIGITS, step_of_code
from feedmill.model.user import RequestOrigin, User
from feedmill.store.database import Database
from feedmill.store.users import two_factor

# Ties an encrypted value to its column.
ENCRYPTION_PURPOSE = "totp_secrets.secret"
# Longer text is no code, and is not looked at.
LONGEST_CODE = 100
# Longer than for passwords: whoever gets here knows the password, and six digits are few. About a hundred guesses a
# day, from any number of addresses, hit one of the three valid codes once in nine years.
NAME_LIMIT = AttemptLimit(free=20, longest=timedelta(minutes=15))

log = get_logger(__name__)


class WrongCode(NotSignedIn):
    """The code is wrong, or was used before."""

    code = "wrong_code"

    def __init__(self) -> None:
        super().__init__(Message("error.wrong_code"))


async def check_second_factor(
    db: Database, encryption: Encryption, user: User, typed: str, origin: RequestOrigin, now: datetime
) -> None:
    """Uses up the code; raises `WrongCode`, or `LimitExceeded` after many failures."""
    source = AttemptSource(user.name, origin.address, "codes", NAME_LIMIT)
    await count_attempt(db, source, now)
    if not await _accept(db, encryption, user, normalize_code(typed), now):
        log.warning("second_factor_refused", user_id=user.id, address=origin.address)
        raise WrongCode
    await db.batch(forget_attempts(source))


def normalize_code(typed: str) -> str:
    """The code without spaces, with the digits of a Chinese keyboard as ASCII; empty for what is no code."""
    if len(typed) > LONGEST_CODE:
        return ""
    code = "".join(unicodedata.normalize("NFKC", typed).split())
    return code if code.isascii() else ""


async def _accept(db: Database, encryption: Encryption, user: User, code: str, now: datetime) -> bool:
    if len(code) == DIGITS and code.isdigit():
        return await _accept_app_code(db, encryption, user, code, now)
    return await _accept_recovery_code(db, user, code)


async def _accept_app_code(db: Database, encryption: Encryption, user: User, code: str, now: datetime) -> bool:
    secret = await two_factor.read_totp_secret(db, user.id)
    if secret is None:
        return False
    step = step_of_code(encryption.decrypt(secret, ENCRYPTION_PURPOSE), code, now)
    return step is not None and await two_factor.use_totp_step(db, user.id, step)


async def _accept_recovery_code(db: Database, user: User, code: str) -> bool:
    digest = recovery_code_digest(code)
    if digest is None or not await two_factor.use_recovery_code(db, user.id, digest):
        return False
    log.warning("recovery_code_used", user_id=user.id, left=await two_factor.count_recovery_codes(db, user.id))
    return True
