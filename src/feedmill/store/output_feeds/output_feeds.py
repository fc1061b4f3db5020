"""Output feeds: adds, lists, finds and revokes them; only a digest of each secret is stored.

An output feed that was created with an API key is valid only while that key is. This is checked at each use.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, bindparam, case, or_, select
from sqlalchemy.sql.dml import Insert

from feedmill.errors import DatabaseUnavailable, NotSignedIn
from feedmill.i18n.messages import Message
from feedmill.model.encrypted import Encrypted
from feedmill.model.syndication.output_feed import OutputFeed, OutputList, OutputListKind
from feedmill.model.timestamps import datetime_or_none, from_iso, to_iso
from feedmill.model.user import ACTIVE, Caller, RequestOrigin, User
from feedmill.store.database import Database, Row, Step
from feedmill.store.schema import api_keys, output_feeds, sessions, users
from feedmill.store.users.users import record_usage, step_to_lock_user, to_user

# How often the last use of an output feed is recorded.
USED_EVERY = timedelta(minutes=1)
LONGEST_USER_AGENT = 300
# HTTP dates have no fractions of a second: two changes within one must not have the same date.
CHANGE_GAP = timedelta(seconds=1)

_of = output_feeds.c
_key_holds = and_(
    api_keys.c.revoked_at.is_(None), or_(api_keys.c.expires_at.is_(None), api_keys.c.expires_at > bindparam("now"))
)
_is_valid = and_(_of.revoked_at.is_(None), or_(_of.api_key_id.is_(None), and_(api_keys.c.id.is_not(None), _key_holds)))
_with_key = output_feeds.outerjoin(api_keys, api_keys.c.id == _of.api_key_id)
_feed = tuple(column.label(f"feed_{column.name}") for column in _of)

# --- adding -------------------------------------------------------------------------------------------

_columns = (
    "user_id",
    "name",
    "list_kind",
    "list_id",
    "secret_hash",
    "api_key_id",
    "announced_secret",
    "created_at",
    "next_attempt_at",
)
_new_values = (users.c.id, *(bindparam(f"new_{name}", type_=_of[name].type) for name in _columns[1:]))


def _add(*conditions: ColumnElement[bool]) -> Insert:
    active = (users.c.id == bindparam("of_user"), users.c.status == ACTIVE)
    return Insert(output_feeds).from_select([*_columns], select(*_new_values).where(*active, *conditions))


ADD = _add()
ADD_IN_SESSION = _add(
    select(sessions.c.id)
    .where(
        sessions.c.id == bindparam("session_id"),
        sessions.c.user_id == users.c.id,
        sessions.c.expires_at > bindparam("now"),
    )
    .exists()
)
ADD_WITH_KEY = _add(
    select(api_keys.c.id)
    .where(api_keys.c.id == bindparam("new_api_key_id"), api_keys.c.user_id == users.c.id, _key_holds)
    .exists()
)

# --- finding, listing and revoking ---------------------------------------------------------------------

BY_HASH = (
    select(users, *_feed, case((_is_valid, 1), else_=0).label("is_valid"))
    .select_from(_with_key.join(users, users.c.id == _of.user_id))
    .where(_of.secret_hash == bindparam("secret_hash"))
)
BY_ID = (
    select(users, *_feed)
    .select_from(_with_key.join(users, users.c.id == _of.user_id))
    .where(_of.id == bindparam("output_feed_id"), _is_valid, users.c.status == ACTIVE)
)
OF_USER = (
    select(*_feed).select_from(_with_key).where(_of.user_id == bindparam("of_user"), _is_valid).order_by(_of.id.desc())
)
REVOKE_ALL = (
    output_feeds.update()
    .where(_of.user_id == bindparam("of_user"), _of.revoked_at.is_(None))
    .values(revoked_at=bindparam("now"), announced_secret=None)
)
REVOKE = REVOKE_ALL.where(_of.id == bindparam("output_feed_id"))
USED = (
    output_feeds.update()
    .where(
        _of.id == bindparam("output_feed_id"),
        or_(_of.last_used_at.is_(None), _of.last_used_at < bindparam("older_than")),
    )
    .values(last_used_at=bindparam("now"), last_address=bindparam("address"), last_user_agent=bindparam("agent"))
)
CHANGED = (
    output_feeds.update()
    .where(
        _of.id == bindparam("output_feed_id"),
        or_(_of.changed_at.is_(None), _of.changed_at < bindparam("at")),
    )
    .values(content_digest=bindparam("digest"), changed_at=bindparam("at"))
)


@dataclass(frozen=True, slots=True)
class OutputFeedHolder:
    """An output feed with its owner. `is_revoked`: for good, by its owner or with its API key."""

    user: User
    feed: OutputFeed
    is_revoked: bool = False

    @property
    def is_active(self) -> bool:
        return not self.is_revoked and self.user.status == ACTIVE


async def add_output_feed(
    db: Database,
    who: Caller,
    name: str,
    wanted: OutputList,
    secret_hash: str,
    announced_secret: Encrypted | None,
    now: datetime,
) -> OutputFeed:
    """Adds an output feed; raises `NotSignedIn` if the session or key of the caller has ended."""
    at = to_iso(now)
    row = {
        "of_user": who.user.id,
        "now": at,
        "session_id": who.session_id,
        "new_name": name,
        "new_list_kind": wanted.kind,
        "new_list_id": wanted.id,
        "new_secret_hash": secret_hash,
        "new_api_key_id": who.api_key.id if who.api_key else None,
        "new_announced_secret": announced_secret.value if announced_secret else None,
        "new_created_at": at,
        "new_next_attempt_at": at,
    }
    # The lock orders this with revoking all of the user's: if that came first, the session or key has ended.
    [_, added] = await db.batch([step_to_lock_user(who.user.id), Step(_add_for(who), row)])
    if not added:
        raise NotSignedIn(Message("error.caller_ended"))
    [found] = await db.query(BY_HASH, {"secret_hash": secret_hash, "now": at})
    return to_output_feed(found)


def _add_for(who: Caller) -> Insert:
    if who.api_key is not None:
        return ADD_WITH_KEY
    return ADD if who.session_id is None else ADD_IN_SESSION


async def output_feeds_of(db: Database, user_id: int, now: datetime) -> list[OutputFeed]:
    """A user's valid output feeds, the newest first."""
    return [to_output_feed(row) for row in await db.query(OF_USER, {"of_user": user_id, "now": to_iso(now)})]


async def revoke_output_feed_of_user(db: Database, user_id: int, output_feed_id: int, now: datetime) -> bool:
    """Revokes an output feed; False if the user has none with this id."""
    row = {"output_feed_id": output_feed_id, "of_user": user_id, "now": to_iso(now)}
    return await db.batch([Step(REVOKE, row)]) == [1]


def step_to_revoke_all_output_feeds(user_id: int, now: datetime) -> Step:
    """The step that revokes all output feeds of a user."""
    return Step(REVOKE_ALL, {"of_user": user_id, "now": to_iso(now)})


async def find_output_feed_holder(db: Database, secret_hash: str, now: datetime) -> OutputFeedHolder | None:
    """The output feed whose secret has this digest, also a revoked one; None if there never was one."""
    rows = await db.query(BY_HASH, {"secret_hash": secret_hash, "now": to_iso(now)})
    return OutputFeedHolder(to_user(rows[0]), to_output_feed(rows[0]), not rows[0]["is_valid"]) if rows else None


async def find_valid_output_feed(db: Database, output_feed_id: int, now: datetime) -> OutputFeedHolder | None:
    """The output feed with this id; None if it was revoked or its owner is disabled."""
    rows = await db.query(BY_ID, {"output_feed_id": output_feed_id, "now": to_iso(now)})
    return OutputFeedHolder(to_user(rows[0]), to_output_feed(rows[0])) if rows else None


async def record_output_feed_use(db: Database, feed: OutputFeed, origin: RequestOrigin, now: datetime) -> None:
    """Records the use of an output feed; at most once in `USED_EVERY`."""
    if feed.last_used_at is not None and feed.last_used_at >= now - USED_EVERY:
        return
    row = {
        "output_feed_id": feed.id,
        "now": to_iso(now),
        "older_than": to_iso(now - USED_EVERY),
        "address": origin.address,
        "agent": origin.user_agent[:LONGEST_USER_AGENT] if origin.user_agent else None,
    }
    await record_usage(db, [Step(USED, row)])


async def record_output_feed_content(db: Database, feed: OutputFeed, digest: str, now: datetime) -> datetime | None:
    """Records the digest of the first page if it is another; since when it is this one, in whole seconds.

    None if another request has recorded a change meanwhile, or the database can't be written to.
    """
    if feed.content_digest == digest and feed.changed_at is not None:
        return feed.changed_at
    at = now.replace(microsecond=0)
    if feed.changed_at is not None:
        at = max(at, feed.changed_at + CHANGE_GAP)
    try:
        changed = await db.batch([Step(CHANGED, {"output_feed_id": feed.id, "digest": digest, "at": to_iso(at)})])
    except DatabaseUnavailable:
        return None
    return at if changed == [1] else None


def to_output_feed(row: Row) -> OutputFeed:
    """An output feed from a row whose columns are labelled with `feed_`."""
    values: dict[str, Any] = {column.name: row[f"feed_{column.name}"] for column in _of}
    return OutputFeed(
        id=values["id"],
        name=values["name"],
        list=OutputList(OutputListKind(values["list_kind"]), values["list_id"]),
        announces=values["announced_secret"] is not None,
        created_at=from_iso(values["created_at"]),
        last_used_at=datetime_or_none(values["last_used_at"]),
        last_address=values["last_address"],
        last_user_agent=values["last_user_agent"],
        content_digest=values["content_digest"],
        changed_at=datetime_or_none(values["changed_at"]),
    )
