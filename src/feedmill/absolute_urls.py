"""Makes URLs absolute and safe to store, the way that a browser's URL parser does.

A normalized URL is absolute, names a host, and contains no control character, space or quotation mark. Normalizing
it again changes nothing. A URL that can't be normalized is dropped: a relative link would lead into our own site.
"""

import re
from functools import lru_cache
from urllib.parse import quote, urljoin, urlsplit

MAX_LENGTH = 8000

# What the URL standard strips before it parses a URL.
_STRIPPED = "".join(map(chr, range(0x21)))
_LINE_BREAKS = str.maketrans("", "", "\t\n\r")
# Control characters, all of Unicode's spaces and invisible characters, quotation marks and angle brackets.
_INVISIBLE = r"\x00-\x20\x7f-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff"
_UNSAFE = re.compile(rf"[{_INVISIBLE}\"'`<>]")
_INVALID_IN_HOST = re.compile(rf"[{_INVISIBLE}\"'`<>%\\^{{|}}]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_COMPLETE = re.compile(r"https?://", re.I)
# `feed://host/x` means http; `feed:https://host/x` carries its own scheme.
_FEED_SCHEME = re.compile(r"^feed:(?:(?://)?(?=https?:)|(//))", re.I)
# The form of most URLs, which nothing below would change.
_PORT = r"(?::(?:[1-5][0-9]{4}|[1-9][0-9]{0,3}+))?"
_PLAIN = re.compile(rf"https?://[a-z0-9-]+(?:\.[a-z0-9-]+)++{_PORT}(?:/[A-Za-z0-9/_.~%?=&+,;:@!$*()#-]*+)?")
_PLAIN_PATH = re.compile(r"/(?!/)[A-Za-z0-9/_.~%=&+,:@!$*()-]*+(?:[?][A-Za-z0-9/_.~%=&+,:@!$*()-]++)?")
_BACKSLASHES = re.compile(r"^(?:https?:)?[/\\][^?#]*", re.I)
# Other schemes that a link may have: a browser hands them to other programs. Never `javascript:` or `data:`.
OTHER_SCHEMES = frozenset({"ftp", "gemini", "geo", "gopher", "ipfs", "magnet", "mailto", "news", "tel"})
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*+):[^\s]", re.I)


def is_plain_url(address: str) -> bool:
    """Whether the URL is so ordinary that normalizing changes nothing."""
    return len(address) <= MAX_LENGTH and _PLAIN.fullmatch(address) is not None


def safe_link(address: str, base: str | None = None) -> str | None:
    """Returns the normalized link if it is http, https or one of `OTHER_SCHEMES`, else None."""
    if web := absolute_url(address, base):
        return web
    address = _trimmed(address)
    scheme = _SCHEME.match(address) if len(address) <= MAX_LENGTH and not _SURROGATE.search(address) else None
    if scheme is None or scheme[1].lower() not in OTHER_SCHEMES:
        return None
    return _within_length(_percent_encoded(address))


def absolute_url(address: str, base: str | None = None) -> str | None:
    """Returns the absolute http or https URL, or None if there is none."""
    if is_plain_url(address):
        return address
    if base and len(address) <= MAX_LENGTH and _PLAIN_PATH.fullmatch(address) and "/." not in address:
        # The root is the same for all pages of a site, so it is mostly cached.
        root = _root("/".join(base.split("/", 3)[:3]))
        return root and root + address
    address = _trimmed(address)
    if not address or len(address) > MAX_LENGTH or _SURROGATE.search(address):
        return None
    address = _FEED_SCHEME.sub(lambda scheme: "http://" if scheme[1] else "", address)
    address = _BACKSLASHES.sub(lambda path: path[0].replace("\\", "/"), address)
    try:
        # Not urljoin for a complete URL: it loses a semicolon at the end.
        joined = address if _COMPLETE.match(address) else urljoin(base or "https:", address)
        return _within_length(_percent_encoded(joined)) if _is_fetchable(joined) else None
    except ValueError:  # unbalanced brackets, a port that is no number
        return None


@lru_cache(1024)
def _root(base: str) -> str | None:
    """The normalized `https://host:port` of a URL."""
    joined = absolute_url("/.", base)
    return joined and joined.removesuffix("/")


def _is_fetchable(url: str) -> bool:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or parts.port == 0:
        return False
    return bool(parts.hostname) and not _INVALID_IN_HOST.search(parts.netloc.rpartition("@")[2])


def _percent_encoded(url: str) -> str:
    return _UNSAFE.sub(lambda unsafe: quote(unsafe[0]), url)


def _trimmed(address: str) -> str:
    """Strips what the URL standard strips; empty for a URL that is far too long."""
    trimmed = address.strip(_STRIPPED)
    return trimmed.translate(_LINE_BREAKS) if len(trimmed) <= 2 * MAX_LENGTH else ""


def _within_length(url: str) -> str | None:
    """None for a URL that encoding made too long: a shortened one would lead elsewhere."""
    return url if len(url) <= MAX_LENGTH else None
