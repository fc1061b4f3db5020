"""Sessions of users, browser and JWT; only a digest of each token is stored."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Select, bindparam, select

from feedmill.model.timestamps import from_iso, to_iso
from feedmill.model.user import ACTIVE, BROWSER, JWT, SESSION_LIFETIME, RequestOrigin, Session, SessionProvider, User
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import insert
from feedmill.store.schema import sessions, users
from feedmill.store.users.users import record_usage, step_to_set_last_seen, to_user

# How often the last use of a session is recorded.
SEEN_EVERY = timedelta(minutes=5)
LONGEST_AGENT = 500

INSERT = insert(
    sessions,
    "user_id",
    "kind",
    "token_hash",
    "user_agent",
    "address",
    "provider",
    "id_token",
    "created_at",
    "last_seen_at",
    "expires_at",
)
SET_LAST_SEEN = (
    sessions.update()
    .where(sessions.c.id == bindparam("session_id"), sessions.c.last_seen_at < bindparam("older_than"))
    .values(last_seen_at=bindparam("now"), expires_at=bindparam("until"))
)
END = sessions.delete().where(sessions.c.id == bindparam("session_id"), sessions.c.user_id == bindparam("of_user"))
END_BY_TOKEN = sessions.delete().where(sessions.c.token_hash == bindparam("token_hash"))
END_OTHERS = sessions.delete().where(
    sessions.c.user_id == bindparam("of_user"), sessions.c.id != bindparam("but_session")
)
DROP_EXPIRED = sessions.delete().where(sessions.c.expires_at <= bindparam("now"))
RENEW = (
    sessions.update()
    .where(sessions.c.id == bindparam("session_id"), sessions.c.token_hash == bindparam("old_hash"))
    .values(token_hash=bindparam("new_hash"), last_seen_at=bindparam("now"), expires_at=bindparam("until"))
)


def _holder(kind: str) -> Select[tuple[object, ...]]:
    columns = (sessions.c.id.label("session_id"), sessions.c.last_seen_at.label("session_seen_at"))
    return (
        select(users, *columns)
        .select_from(sessions.join(users, users.c.id == sessions.c.user_id))
        .where(sessions.c.kind == kind, sessions.c.expires_at > bindparam("now"), users.c.status == ACTIVE)
    )


BY_TOKEN = _holder(BROWSER).where(sessions.c.token_hash == bindparam("token_hash"))
BY_ID = _holder(JWT).where(sessions.c.id == bindparam("session_id"))
ID_OF_TOKEN = select(sessions.c.id).where(sessions.c.token_hash == bindparam("token_hash"))
PROVIDER_OF_TOKEN = select(sessions.c.provider, sessions.c.id_token).where(
    sessions.c.token_hash == bindparam("token_hash")
)
OF_USER = (
    select(sessions)
    .where(sessions.c.user_id == bindparam("user_id"), sessions.c.expires_at > bindparam("now"))
    .order_by(sessions.c.last_seen_at.desc(), sessions.c.id.desc())
)
FROM_ADDRESS = (
    select(sessions.c.id)
    .select_from(sessions.join(users, users.c.id == sessions.c.user_id))
    .where(users.c.name == bindparam("name"), sessions.c.address == bindparam("address"))
    .limit(1)
)


@dataclass(frozen=True, slots=True)
class SessionHolder:
    """The user of a session, and when it was last seen in use."""

    user: User
    session_id: int
    last_seen_at: datetime


async def begin_session(
    db: Database,
    user_id: int,
    kind: str,
    token_hash: str,
    origin: RequestOrigin,
    now: datetime,
    replacing: str | None = None,
    provider: SessionProvider | None = None,
) -> int:
    """Begins a session; the one with the token hash `replacing` ends, and all expired sessions are deleted."""
    at = to_iso(now)
    row = {
        "user_id": user_id,
        "kind": kind,
        "token_hash": token_hash,
        "user_agent": origin.user_agent[:LONGEST_AGENT] if origin.user_agent else None,
        "address": origin.address,
        "provider": provider.id if provider else None,
        "id_token": provider.id_token if provider else None,
        "created_at": at,
        "last_seen_at": at,
        "expires_at": to_iso(now + SESSION_LIFETIME),
    }
    await db.batch(
        [
            Step(INSERT, row),
            step_to_set_last_seen(user_id, now),
            step_to_drop_expired_sessions(now),
            *([Step(END_BY_TOKEN, {"token_hash": replacing})] if replacing else []),
        ]
    )
    [found] = await db.query(ID_OF_TOKEN, {"token_hash": token_hash})
    return int(found["id"])


async def provider_of_session(db: Database, token_hash: str) -> SessionProvider | None:
    """The provider that a browser session was begun with; None for another way to sign in."""
    rows = await db.query(PROVIDER_OF_TOKEN, {"token_hash": token_hash})
    return SessionProvider(rows[0]["provider"], rows[0]["id_token"]) if rows and rows[0]["provider"] else None


async def end_session_by_token(db: Database, token_hash: str) -> None:
    await db.batch([Step(END_BY_TOKEN, {"token_hash": token_hash})])


def step_to_end_other_sessions(user_id: int, but: int | None) -> Step:
    """The step that ends all sessions of a user, or all but one."""
    return Step(END_OTHERS, {"of_user": user_id, "but_session": but or 0})


def step_to_drop_expired_sessions(now: datetime) -> Step:
    """The step that deletes expired sessions."""
    return Step(DROP_EXPIRED, {"now": to_iso(now)})


async def end_session(db: Database, user_id: int, session_id: int) -> bool:
    """Ends a session; False when the user has no such session."""
    return await db.batch([Step(END, {"of_user": user_id, "session_id": session_id})]) == [1]


async def renew_session(db: Database, session_id: int, old_hash: str, new_hash: str, now: datetime) -> bool:
    """Replaces the token of a session by the next one; False when `old_hash` is not its current token."""
    values = {"session_id": session_id, "old_hash": old_hash, "new_hash": new_hash}
    times = {"now": to_iso(now), "until": to_iso(now + SESSION_LIFETIME)}
    return await db.batch([Step(RENEW, values | times)]) == [1]


async def find_browser_session_holder(db: Database, token_hash: str, now: datetime) -> SessionHolder | None:
    """The active user of the browser session with this token; None if it has ended."""
    rows = await db.query(BY_TOKEN, {"token_hash": token_hash, "now": to_iso(now)})
    return _holder_of(rows[0]) if rows else None


async def find_client_session_holder(db: Database, session_id: int, now: datetime) -> SessionHolder | None:
    """The active user of the session of an API client; None if it has ended."""
    rows = await db.query(BY_ID, {"session_id": session_id, "now": to_iso(now)})
    return _holder_of(rows[0]) if rows else None


async def record_session_use(db: Database, holder: SessionHolder, now: datetime) -> None:
    """Records the use of a session and extends it; at most once in `SEEN_EVERY`."""
    if holder.last_seen_at >= now - SEEN_EVERY:
        return
    at = {"now": to_iso(now), "older_than": to_iso(now - SEEN_EVERY), "until": to_iso(now + SESSION_LIFETIME)}
    steps = [
        step_to_set_last_seen(holder.user.id, now),
        Step(SET_LAST_SEEN, at | {"session_id": holder.session_id}),
    ]
    await record_usage(db, steps)


async def sessions_of(db: Database, user_id: int, now: datetime) -> list[Session]:
    """A user's sessions, the one used last first."""
    return [_session(row) for row in await db.query(OF_USER, {"user_id": user_id, "now": to_iso(now)})]


async def is_signed_in_from(db: Database, name: str, address: str) -> bool:
    """Whether the user of that name has a session that began at this address."""
    return bool(await db.query(FROM_ADDRESS, {"name": name, "address": address}))


def _holder_of(row: Row) -> SessionHolder:
    return SessionHolder(to_user(row), row["session_id"], from_iso(row["session_seen_at"]))


def _session(row: Row) -> Session:
    return Session(
        id=row["id"],
        kind=row["kind"],
        user_agent=row["user_agent"],
        address=row["address"],
        created_at=from_iso(row["created_at"]),
        last_seen_at=from_iso(row["last_seen_at"]),
        expires_at=from_iso(row["expires_at"]),
    )
