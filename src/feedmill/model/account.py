"""People, and who is asking."""

from dataclasses import dataclass
from datetime import datetime

# What a key may do. Whoever signs in with a password may do all; only an admin may do `admin`.
READ, WRITE, POOLS, ADMIN = "read", "write", "pools", "admin"
SCOPES = (READ, WRITE, POOLS, ADMIN)

ACTIVE, DISABLED = "active", "disabled"
# How a session came about: a person at a browser, or a program that asked for access tokens.
BROWSER, JWT = "browser", "jwt"


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


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, and what they may do. `session_id` is None for a key that was made for a program."""

    user: User
    scopes: frozenset[str]
    session_id: int | None = None


@dataclass(frozen=True, slots=True)
class Origin:
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
class Token:
    """A key that a person made for a program."""

    id: int
    name: str
    scopes: tuple[str, ...]
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None
