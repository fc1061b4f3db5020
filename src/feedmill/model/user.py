"""Users, sessions, API tokens, and who is calling."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

# What a key may do. Whoever signs in with a password may do all; only an admin may do `admin`.
READ, WRITE, POOLS, ADMIN = "read", "write", "pools", "admin"
SCOPES = (READ, WRITE, POOLS, ADMIN)

ACTIVE, DISABLED = "active", "disabled"
# How a session came about: a person at a browser, or a program that asked for access tokens.
BROWSER, JWT = "browser", "jwt"
# After its last use.
SESSION_LIFETIME = timedelta(days=30)


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

    @property
    def scopes(self) -> frozenset[str]:
        """What the user may do who has shown the password."""
        return frozenset(SCOPES) if self.is_admin else frozenset(SCOPES) - {ADMIN}


class PoolGroupName(NamedTuple):
    """A pool group, by its id and its name."""

    id: int
    name: str


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A key that a person made for a program.

    `made_by` is the id of the key that it was made with, None when a person made it. `pool_groups` are the groups
    that it may take from, None when it may take from all that its owner may take from.
    """

    id: int
    name: str
    scopes: tuple[str, ...]
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None
    made_by: int | None = None
    pool_groups: tuple[PoolGroupName, ...] | None = None


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, and what they may do: in the session `session_id`, or with the `key` that a person made.

    Neither is there for the command line on the server.
    """

    user: User
    scopes: frozenset[str]
    session_id: int | None = None
    key: ApiToken | None = None


@dataclass(frozen=True, slots=True)
class RequestOrigin:
    """Where a request came from, as far as it can be told."""

    address: str | None = None
    user_agent: str | None = None


@dataclass(frozen=True, slots=True)
class Actor:
    """Who does something that is written down, and from where. No user: the command line, or nobody yet."""

    user_id: int | None = None
    address: str | None = None


@dataclass(frozen=True, slots=True)
class Session:
    id: int
    kind: str
    user_agent: str | None
    address: str | None
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class AccessEnded:
    """What a new password, or signing out everywhere else, has ended, and how many keys still work."""

    sessions_ended: int
    keys_revoked: int
    keys_left: int
