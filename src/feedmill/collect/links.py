"""Turns an address as a page or feed writes it into an absolute one that can be fetched."""

import re
from functools import lru_cache
from urllib.parse import urljoin, urlsplit

MAX_LENGTH = 8000

# What the URL standard takes away before it reads an address.
_EDGES = "".join(map(chr, range(0x21)))
_LINE_BREAKS = str.maketrans("", "", "\t\n\r")
_UNSAFE = re.compile(r"[\x00-\x20\x7f\"<>]")
_NEVER_IN_HOST = re.compile(r"[\x00-\x20\x7f\"<>\\^`{|}]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_COMPLETE = re.compile(r"https?://", re.I)
# `feed://host/x` means http; `feed:https://host/x` carries its own scheme.
_FEED_SCHEME = re.compile(r"^feed:(?:(?://)?(?=https?:)|(//))", re.I)
# What most addresses look like, and what nothing below would change.
_PLAIN = re.compile(r"https?://[a-z0-9-]+(?:\.[a-z0-9-]+)++(?:/[A-Za-z0-9/_.~%?=&+,;:@!$*()-]*+)?")
_FROM_THE_ROOT = re.compile(r"/(?!/)[A-Za-z0-9/_.~%=&+,:@!$*()-]*+(?:[?][A-Za-z0-9/_.~%=&+,:@!$*()-]++)?")
_BACKSLASHES = re.compile(r"^(?:https?:)?[/\\][^?#]*", re.I)


def absolute(address: str, base: str | None = None) -> str | None:
    """Returns the absolute http or https address, or None for what can't be fetched as one."""
    if len(address) <= MAX_LENGTH and _PLAIN.fullmatch(address):
        return address
    if base and len(address) <= MAX_LENGTH and _FROM_THE_ROOT.fullmatch(address) and "/." not in address:
        # The same for all pages of a site, and so mostly known.
        root = _root("/".join(base.split("/", 3)[:3]))
        return root and root + address
    address = address.strip(_EDGES).translate(_LINE_BREAKS)
    if not address or len(address) > MAX_LENGTH or _SURROGATE.search(address):
        return None
    address = _FEED_SCHEME.sub(lambda scheme: "http://" if scheme[1] else "", address)
    address = _BACKSLASHES.sub(lambda path: path[0].replace("\\", "/"), address)
    try:
        # Not urljoin for what is complete: it loses a semicolon at the end.
        joined = address if _COMPLETE.match(address) else urljoin(base or "https:", address)
        return _percent_encoded(joined) if _is_fetchable(joined) else None
    except ValueError:  # unbalanced brackets, a port that is no number
        return None


@lru_cache(1024)
def _root(base: str) -> str | None:
    """What stands before the path of addresses on the same site: `https://host:port`."""
    joined = absolute("/.", base)
    return joined and joined.removesuffix("/")


def _is_fetchable(url: str) -> bool:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or parts.port == 0:
        return False
    return bool(parts.hostname) and not _NEVER_IN_HOST.search(parts.netloc)


def _percent_encoded(url: str) -> str:
    return _UNSAFE.sub(lambda unsafe: f"%{ord(unsafe[0]):02X}", url)
