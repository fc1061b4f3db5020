"""Finds who a session or an API key speaks for, and what they may do with it.

`reads_lists`: whether the request may read unread entries, so that the list must be filled first.
"""

from datetime import datetime

from feedmill.model.user import Caller
from feedmill.store.database import Database
from feedmill.store.entries.fill_deferred_entries import fill_first_deferred
from feedmill.store.users.api_keys import API_KEY_PREFIX, find_api_key_holder, record_api_key_use, secret_digest
from feedmill.store.users.sessions import (
    SessionHolder,
    find_browser_session_holder,
    find_client_session_holder,
    record_session_use,
)


async def caller_of_cookie(db: Database, token: str, now: datetime, *, reads_lists: bool = True) -> Caller | None:
    """The user of the browser session that holds this token; None if it has ended."""
    holder = await find_browser_session_holder(db, secret_digest(token), now)
    return await _session_caller(db, holder, now, reads_lists)


async def caller_of_client_session(
    db: Database, session_id: int, now: datetime, *, reads_lists: bool = True
) -> Caller | None:
    """The user that an access token of this session speaks for; None if the session has ended."""
    return await _session_caller(db, await find_client_session_holder(db, session_id, now), now, reads_lists)


def is_api_key(secret: str) -> bool:
    return secret.startswith(API_KEY_PREFIX)


async def caller_of_api_key(db: Database, secret: str, now: datetime, *, reads_lists: bool = True) -> Caller | None:
    """The owner of this key; None if it was revoked or has expired."""
    holder = await find_api_key_holder(db, secret_digest(secret), now)
    if holder is None:
        return None
    user, key = holder
    await record_api_key_use(db, user, key, now)
    if reads_lists:
        await fill_first_deferred(db, user.id)
    # A key that was made by an admin loses that scope when its owner does.
    return Caller(user, frozenset(key.scopes) & user.scopes, api_key=key)


async def _session_caller(
    db: Database, holder: SessionHolder | None, now: datetime, reads_lists: bool
) -> Caller | None:
    if holder is None:
        return None
    await record_session_use(db, holder, now)
    if reads_lists:
        await fill_first_deferred(db, holder.user.id)
    return Caller(holder.user, holder.user.scopes, holder.session_id)
