"""People, and who is asking."""

from dataclasses import dataclass
from datetime import datetime

# What a key may do. Whoever signs in with a password may do all; only an admin may do `admin`.
READ, WRITE, POOLS, ADMIN = "read", "write", "pools", "admin"
SCOPES = (READ, WRITE, POOLS, ADMIN)


@dataclass(frozen=True, slots=True)
class User:
    """`settings` is JSON text of the user's own making; the quotas are None when there is no limit."""

    id: int
    name: str
    is_admin: bool
    status: str
    unread_list_id: int
    settings: str | None
    quota_feeds: int | None
    quota_bytes: int | None
    created_at: datetime
    last_seen_at: datetime | None


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, and what they may do. `session_id` is None for a key that was made for a program."""

    user: User
    scopes: frozenset[str]
    session_id: int | None = None
