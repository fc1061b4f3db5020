"""Removes passwords and tokens from URLs before a model sees them."""

import re
from collections.abc import Iterable
from urllib.parse import urlsplit, urlunsplit

from feedmill.logs import REDACTED
from feedmill.model.feed import without_owner

# `name:password@`, or a key in place of the name; a scheme is short, so that the search takes linear time.
_LOGIN = re.compile(r"(?P<scheme>\b[a-z][a-z0-9+.-]{0,30}://)[^\s/?#@]{1,500}@", re.IGNORECASE)
_HIDDEN_NAMES = r"[\w.-]{0,50}(?:token|secret|passw(?:or)?d|signature|session|credential|auth|key|sig|pass|pwd)"
_SECRET_VALUE = re.compile(rf"(?P<name>[?&#;]{_HIDDEN_NAMES}=)[\w.~%+/=:,!*'@$-]+", re.IGNORECASE | re.ASCII)
_RUNS = re.compile(r"[A-Za-z0-9]{12,}")


def redact_urls(text: str) -> str:
    """The text without logins and without values of secret-looking parameters in its URLs."""
    return _SECRET_VALUE.sub(rf"\g<name>{REDACTED}", _LOGIN.sub(r"\g<scheme>", text))


def redact_feed_url(url: str) -> str:
    """The URL of a feed, whose path and parameters may be the key to it: no values, and no random parts."""
    try:
        parts = urlsplit(without_owner(url))
    except ValueError:
        return REDACTED
    host = parts.netloc.rpartition("@")[2]
    path = "/".join(REDACTED if _is_random(part) else part for part in parts.path.split("/"))
    names = [pair.partition("=")[0] for pair in parts.query.split("&") if pair]
    return urlunsplit((parts.scheme, host, path, "&".join(f"{name}={REDACTED}" for name in names), ""))


def secrets_of_feed_url(url: str) -> list[str]:
    """The parts of the URL of a feed that look like keys: they are hidden wherever the feed repeats them."""
    if not _is_random(url):
        return []
    try:
        parts = urlsplit(without_owner(url))
    except ValueError:
        return []
    values = [pair.partition("=")[2] for pair in parts.query.split("&")]
    found = {part for part in (*parts.path.split("/"), *values, parts.password or "") if _is_random(part)}
    return sorted(found, key=len, reverse=True)


def hide_secrets(text: str, secrets: Iterable[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, REDACTED)
    return text


def _is_random(part: str) -> bool:
    """Whether nobody would choose a part of a path as a name: it has a long run of both letters and digits."""
    return any(not run.isalpha() and not run.isdigit() for run in _RUNS.findall(part))
