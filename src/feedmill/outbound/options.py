"""How far a request may go, and what a feed wants said differently."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Limits:
    """`max_bytes` counts decoded bytes, `read` is the longest silence, `total` is all but the wait for turns."""

    max_bytes: int = 15_000_000
    connect: timedelta = timedelta(seconds=5)
    read: timedelta = timedelta(seconds=20)
    total: timedelta = timedelta(seconds=30)
    redirects: int = 5


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """What one feed needs. Credentials, cookie and headers go to the feed's own host alone.

    The proxy is an http URL, checked like every address that we connect to. What it asks for in our name is
    looked up here as well, and refused when it is private; but the proxy looks it up again by itself, so
    only the proxy can keep that promise.
    """

    basic_auth: tuple[str, str] | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    cookie: str | None = field(default=None, repr=False)
    proxy: str | None = field(default=None, repr=False)
    user_agent: str | None = None
    verify_tls: bool = True
