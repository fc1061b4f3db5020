"""Users, sessions, identities, API keys, app passwords, and who is calling."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

# The scopes of an API key. A session with a password has all; only an admin has `admin`.
READ, WRITE, POOLS, FILL, ADMIN = "read", "write", "pools", "fill", "admin"
SCOPES = (READ, WRITE, POOLS, FILL, ADMIN)

ACTIVE, DISABLED = "active", "disabled"
# Kinds of sessions: a browser, or a program with access tokens.
BROWSER, JWT = "browser", "jwt"
# After its last use.
SESSION_LIFETIME = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class User:
    """`settings` is JSON text with the user's preferences; a quota of None is no limit.

    `two_factor_at` is since when signing in with the password also needs a code.
    """

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
    two_factor_at: datetime | None = None
    has_password: bool = True

    @property
    def has_two_factor(self) -> bool:
        return self.two_factor_at is not None

    @property
    def scopes(self) -> frozenset[str]:
        """The scopes of a session with a password."""
        return frozenset(SCOPES) if self.is_admin else frozenset(SCOPES) - {ADMIN}


class PoolGroupName(NamedTuple):
    """The id and name of a pool group."""

    id: int
    name: str


@dataclass(frozen=True, slots=True)
class ApiKey:
    """An API key for a program.

    `parent_key_id` is the id of the key with which it was created, None when a person created it. `pool_groups` are
    the groups that it may take from or fill; None for all groups of its owner.
    """

    id: int
    name: str
    scopes: tuple[str, ...]
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None
    parent_key_id: int | None = None
    pool_groups: tuple[PoolGroupName, ...] | None = None


@dataclass(frozen=True, slots=True)
class AppPassword:
    """A password for a reader app on one device. `last_user_agent` is how the app names itself."""

    id: int
    name: str
    allows_fever: bool
    created_at: datetime
    last_used_at: datetime | None
    last_address: str | None
    last_user_agent: str | None


@dataclass(frozen=True, slots=True)
class Caller:
    """The user who calls and their scopes, with the session `session_id`, the `api_key` or the `app_password`.

    On the command line of the server all are None.
    """

    user: User
    scopes: frozenset[str]
    session_id: int | None = None
    api_key: ApiKey | None = None
    app_password: AppPassword | None = None


@dataclass(frozen=True, slots=True)
class RequestOrigin:
    """Where a request came from, as far as it is known."""

    address: str | None = None
    user_agent: str | None = None


@dataclass(frozen=True, slots=True)
class Actor:
    """Who does something that is logged, and from where. No user: the command line, or nobody yet."""

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
    """What a new password or signing out everywhere else has ended, and how many keys still work."""

    sessions_ended: int
    keys_revoked: int
    keys_left: int


@dataclass(frozen=True, slots=True)
class LinkedIdentity:
    """An identity with which a user signs in. `label` is how the provider calls the user."""

    id: int
    user_id: int
    issuer: str
    label: str | None
    created_at: datetime
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class ProviderSubject:
    """Who somebody is at a provider. Only issuer and subject together identify them: a name or address does not."""

    issuer: str
    subject: str
    label: str | None = None


@dataclass(frozen=True, slots=True)
class SessionProvider:
    """The provider of a session, and the token with which the session there is ended."""

    id: str
    id_token: str | None = None
