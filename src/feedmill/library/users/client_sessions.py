"""Sessions of API clients, which hold one refresh token at a time.

Each refresh token works once. One that is used a second time ends the session: somebody has copied it.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from secrets import token_hex

from feedmill.encryption import Encryption
from feedmill.errors import NotSignedIn
from feedmill.i18n.messages import Message
from feedmill.lazy_loggers import get_logger
from feedmill.library.users.find_caller import caller_of_client_session
from feedmill.library.users.sign_in import Credentials, authenticate_with_code
from feedmill.model.user import JWT, RequestOrigin
from feedmill.store.database import Database
from feedmill.store.users import sessions
from feedmill.store.users.api_keys import secret_digest

log = get_logger(__name__)


class BadRefreshToken(NotSignedIn):
    """The refresh token is not valid, has expired or was used before."""

    code = "bad_refresh_token"

    def __init__(self) -> None:
        super().__init__(Message("error.refresh_token"))


@dataclass(frozen=True, slots=True)
class ClientSession:
    """A session of a user, and the secret of one of its refresh tokens."""

    user_id: int
    session_id: int
    secret: str


async def begin_client_session(
    db: Database, encryption: Encryption, sent: Credentials, origin: RequestOrigin, now: datetime
) -> ClientSession:
    """A session for whoever knows the password and the code, with the secret of its first refresh token."""
    user = await authenticate_with_code(db, encryption, sent, origin, now)
    number = token_hex(16)
    session_id = await sessions.begin_session(db, user.id, JWT, secret_digest(number), origin, now)
    return ClientSession(user.id, session_id, number)


async def renew_client_session(db: Database, session: ClientSession, now: datetime) -> ClientSession:
    """The session with the secret of its next refresh token; raises `BadRefreshToken`."""
    if await caller_of_client_session(db, session.session_id, now, reads_lists=False) is None:
        raise BadRefreshToken
    following = replace(session, secret=token_hex(16))
    digests = secret_digest(session.secret), secret_digest(following.secret)
    if not await sessions.renew_session(db, session.session_id, *digests, now):
        log.warning("refresh_token_reused", user_id=session.user_id)
        await end_client_session(db, session)
        raise BadRefreshToken
    return following


async def end_client_session(db: Database, session: ClientSession) -> None:
    """Ends the session with all its tokens; one that has ended already stays so."""
    await sessions.end_session(db, session.user_id, session.session_id)
