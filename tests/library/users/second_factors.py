"""Sets up second factors for tests."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from feedmill.encryption import Encryption
from feedmill.library.users.confirm_owner import OwnerProof
from feedmill.library.users.sign_in import begin_session
from feedmill.library.users.totp import code_of_step, new_secret, step_at
from feedmill.library.users.two_factor import turn_on_two_factor
from feedmill.model.user import Caller, RequestOrigin, User
from feedmill.store.database import Database
from feedmill.store.users.users import user_of_id

KEY = "k" * 40
ENCRYPTION = Encryption(lambda: KEY, lambda: KEY)
# It was set up so long ago that its first code is no longer the current one.
BEFORE = timedelta(hours=1)


@dataclass(frozen=True)
class Authenticator:
    """A user with a second factor, their app and their recovery codes. `session` is the one that turned it on."""

    user: User
    secret: str
    recovery_codes: list[str]
    session: Caller

    def code(self, now: datetime) -> str:
        return code_of_step(self.secret, step_at(now))


async def set_up_two_factor(
    db: Database, user: User, password: str, now: datetime, encryption: Encryption = ENCRYPTION
) -> Authenticator:
    earlier, secret = now - BEFORE, new_secret()
    _, who = await begin_session(db, user, RequestOrigin(), earlier)
    proof = OwnerProof(password, code_of_step(secret, step_at(earlier)))
    codes = await turn_on_two_factor(db, encryption, who, secret, proof, RequestOrigin(), earlier)
    changed = await user_of_id(db, user.id)
    assert changed is not None
    return Authenticator(changed, secret, codes, Caller(changed, changed.scopes, who.session_id))
