"""Normalizes links the way that a browser's URL parser does.

What comes out is absolute, has a host, and has no control character, no space and no quotation mark in it. Normalising
it again changes nothing. What can't be made so is dropped: a relative link would lead into our own site.
"""

import re
from functools import lru_cache
from urllib.parse import quote, urljoin, urlsplit

from feedmill.html.tags import attributes, tags

MAX_LENGTH = 8000

# What the URL standard takes away before it reads an address.
_EDGES = "".join(map(chr, range(0x21)))
_LINE_BREAKS = str.maketrans("", "", "\t\n\r")
# Control characters, spaces and invisible ones of all of Unicode, quotation marks, and what HTML begins with.
_INVISIBLE = r"\x00-\x20\x7f-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff"
_UNSAFE = re.compile(rf"[{_INVISIBLE}\"'`<>]")
_NEVER_IN_HOST = re.compile(rf"[{_INVISIBLE}\"'`<>%\\^{{|}}]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_COMPLETE = re.compile(r"https?://", re.I)
# `feed://host/x` means http; `feed:https://host/x` carries its own scheme.
_FEED_SCHEME = re.compile(r"^feed:(?:(?://)?(?=https?:)|(//))", re.I)
# What most addresses look like, and what nothing below would change.
_PLAIN = re.compile(r"https?://[a-z0-9-]+(?:\.[a-z0-9-]+)++(?:/[A-Za-z0-9/_.~%?=&+,;:@!$*()#-]*+)?")
_FROM_THE_ROOT = re.compile(r"/(?!/)[A-Za-z0-9/_.~%=&+,:@!$*()-]*+(?:[?][A-Za-z0-9/_.~%=&+,:@!$*()-]++)?")
_BACKSLASHES = re.compile(r"^(?:https?:)?[/\\][^?#]*", re.I)
# What else a link may lead to: a browser hands these to other programs, which run nothing. Not `javascript:`, `data:`…
OTHER_SCHEMES = frozenset({"ftp", "gemini", "geo", "gopher", "ipfs", "magnet", "mailto", "news", "tel"})
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*+):[^\s]", re.I)


def is_plain_url(address: str) -> bool:
    """Whether it is so ordinary that normalising changes nothing."""
    return len(address) <= MAX_LENGTH and _PLAIN.fullmatch(address) is not None


def safe_link(address: str, base: str | None = None) -> str | None:
    """The link in its normal form, when somebody may follow it: http, https or one of `OTHER_SCHEMES`."""
    if web := absolute_url(address, base):
        return web
    address = _trimmed(address)
    scheme = _SCHEME.match(address) if len(address) <= MAX_LENGTH and not _SURROGATE.search(address) else None
    if scheme is None or scheme[1].lower() not in OTHER_SCHEMES:
        return None
    return _within_length(_percent_encoded(address))


def absolute_url(address: str, base: str | None = None) -> str | None:
    """Returns the absolute http or https address, or None for what can't be fetched as one."""
    if is_plain_url(address):
        return address
    if base and len(address) <= MAX_LENGTH and _FROM_THE_ROOT.fullmatch(address) and "/." not in address:
        # The same for all pages of a site, and so mostly known.
        root = _root("/".join(base.split("/", 3)[:3]))
        return root and root + address
    address = _trimmed(address)
    if not address or len(address) > MAX_LENGTH or _SURROGATE.search(address):
        return None
    address = _FEED_SCHEME.sub(lambda scheme: "http://" if scheme[1] else "", address)
    address = _BACKSLASHES.sub(lambda path: path[0].replace("\\", "/"), address)
    try:
        # Not urljoin for what is complete: it loses a semicolon at the end.
        joined = address if _COMPLETE.match(address) else urljoin(base or "https:", address)
        return _within_length(_percent_encoded(joined)) if _is_fetchable(joined) else None
    except ValueError:  # unbalanced brackets, a port that is no number
        return None


@lru_cache(1024)
def _root(base: str) -> str | None:
    """What stands before the path of addresses on the same site: `https://host:port`."""
    joined = absolute_url("/.", base)
    return joined and joined.removesuffix("/")


def _is_fetchable(url: str) -> bool:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or parts.port == 0:
        return False
    return bool(parts.hostname) and not _NEVER_IN_HOST.search(parts.netloc.rpartition("@")[2])


def _percent_encoded(url: str) -> str:
    return _UNSAFE.sub(lambda unsafe: quote(unsafe[0]), url)


def _trimmed(address: str) -> str:
    """Without what the URL standard takes away. Of one that is far too long nothing more is looked at."""
    trimmed = address.strip(_EDGES)
    return trimmed.translate(_LINE_BREAKS) if len(trimmed) <= 2 * MAX_LENGTH else ""


def _within_length(url: str) -> str | None:
    """Encoding makes it longer; what is cut would lead elsewhere."""
    return url if len(url) <= MAX_LENGTH else None


_HAS_BASE = re.compile(r"<base[\t\n\f\r /]", re.I)


def find_base_url(html: str, url: str | None) -> str | None:
    """Returns what relative addresses are relative to: the first `<base href>`, else the given address."""
    if not _HAS_BASE.search(html):
        return url
    for tag in tags(html):
        if tag.name == "base" and not tag.closing and (href := attributes(html, tag).get("href")):
            return absolute_url(href, url) or url
    return url
