"""The address of a feed as a person writes it, made into the one that is kept."""

from dataclasses import dataclass

import msgspec

from feedmill.collect.links import absolute
from feedmill.errors import CallerError
from feedmill.outbound.failures import Rejected
from feedmill.outbound.urls import parse

# The column's length, which is the same in every database.
LONGEST = 2048


class BadAddress(CallerError):
    """That is no address a feed can be fetched from; the text says why."""


@dataclass(frozen=True, slots=True)
class Address:
    """`url` is normal and without secrets; a name and password that were in it are in `http_options`."""

    url: str
    http_options: str | None = None


def read_address(text: str) -> Address:
    """Reads what a person pasted: `https://` may be missing, `feed:` is understood."""
    written = text.strip()
    complete = written if "://" in written or written.lower().startswith("feed:") else f"https://{written}"
    try:
        target = parse(absolute(complete) or complete)
    except Rejected as error:
        raise BadAddress(f"{_shown(written)} can't be fetched: {error}") from error
    if len(target.url) > LONGEST:
        raise BadAddress(f"{_shown(written)} can't be kept: the URL is longer than {LONGEST} characters")
    return Address(target.url, _options(target.credentials))


def _options(credentials: tuple[str, str] | None) -> str | None:
    if credentials is None:
        return None
    return msgspec.json.encode({"basic_auth": credentials}).decode()


def _shown(text: str) -> str:
    """The text without what stands before an @ (it may be a password), and not without end."""
    rest = text.rpartition("@")[2]
    return f"{rest[:100]}…" if len(rest) > 100 else rest or "an empty URL"
