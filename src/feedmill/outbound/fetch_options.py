"""Limits of a request, and the HTTP options of one feed (login, headers, proxy)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

import msgspec

from feedmill.encryption import Encryption, UnreadableSecret
from feedmill.model.encrypted import Encrypted

# What ties an encrypted value to its column.
ENCRYPTION_PURPOSE = "feeds.http_options"


@dataclass(frozen=True, slots=True)
class FetchLimits:
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


def parse_options(text: str | None) -> FetchOptions:
    """Options as a person's form made them: JSON."""
    return FetchOptions() if text is None else msgspec.json.decode(text, type=FetchOptions)


def encrypt_options(encryption: Encryption, text: str | None) -> Encrypted | None:
    """As the feed's row keeps them."""
    return None if text is None else encryption.encrypt(text, ENCRYPTION_PURPOSE)


def decrypt_options(encryption: Encryption, kept: Encrypted | None) -> str | None:
    """As a person's form made them; raises `UnreadableSecret`."""
    return None if kept is None else encryption.decrypt(kept, ENCRYPTION_PURPOSE)


def same_options(encryption: Encryption, one: Encrypted | None, other: Encrypted | None) -> bool:
    """Whether two feeds are asked for in the same way; what can't be read is the same as nothing else."""
    if one is None or other is None:
        return one is other
    try:
        return decrypt_options(encryption, one) == decrypt_options(encryption, other)
    except UnreadableSecret:
        return False
