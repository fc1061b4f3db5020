"""Lists and ends the sessions of the calling user."""

from datetime import datetime

from feedmill.errors import NotFound
from feedmill.i18n.messages import Message
from feedmill.model.user import Caller, Session
from feedmill.store.database import Database
from feedmill.store.users import sessions


async def list_sessions(db: Database, who: Caller, now: datetime) -> list[Session]:
    """The caller's sessions, the one used last first."""
    return await sessions.sessions_of(db, who.user.id, now)


async def end_session(db: Database, who: Caller, session_id: int) -> None:
    """Ends a session of the caller's; raises `NotFound`, also for somebody else's."""
    if not await sessions.end_session(db, who.user.id, session_id):
        raise NotFound(Message("error.no_such_session"))


async def end_current_session(db: Database, who: Caller) -> bool:
    """Ends the session that the request is made in; False for an API key, which has none."""
    if who.session_id is None:
        return False
    await sessions.end_session(db, who.user.id, who.session_id)
    return True
