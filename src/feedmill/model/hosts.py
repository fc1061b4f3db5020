"""Takes the host out of a URL, parses host names, and compares them with their parent domains."""

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

MAX_HOST_LENGTH = 253
# URLs without login, brackets and unusual characters; the others are left to urlsplit.
_PLAIN_URL = re.compile(r"[a-z]{1,20}://([A-Za-z0-9._:-]{1,300})(?=[/?#]|\Z)")
_AUTHORITY = re.compile(r"(?P<host>\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_.])?)(?::\d{0,5})?", re.I)


def host_of(url: str) -> str:
    """The host of a URL in lower case, without login, port, brackets or final dot; empty if it has none."""
    # Most URLs of a feed have the same few hosts, and urlsplit takes many times as long as this.
    found = _PLAIN_URL.match(url)
    return _host_of_authority(found[1]) if found else _split_host(url)


@lru_cache(maxsize=4096)
def _host_of_authority(authority: str) -> str:
    return _split_host(f"//{authority}")


def _split_host(url: str) -> str:
    try:
        host = (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:  # unbalanced brackets, characters that Unicode normalization would turn into a slash
        return ""
    return host if len(host) <= MAX_HOST_LENGTH else ""


def host_and_parents(host: str) -> Iterator[str]:
    """Yields the host, then each parent domain: `a.b.org`, `b.org`, `org`."""
    while host:
        yield host
        host = host.partition(".")[2]


def is_in_domains(host: str, names: Collection[str]) -> bool:
    """Whether the host or one of its parent domains is among these names."""
    return any(name in names for name in host_and_parents(host.rstrip(".")))


def parse_host(authority: str) -> str | None:
    """The host without its port, in lower case and without a final dot; None if it is not a host."""
    try:
        ascii_form = authority if authority.isascii() else authority.encode("idna").decode()
    except UnicodeError:
        return None
    found = _AUTHORITY.fullmatch(ascii_form)
    if found is None:
        return None
    host = found["host"].lower().removesuffix(".")
    return host if 0 < len(host) <= MAX_HOST_LENGTH and ".." not in host else None


def is_ip_literal(host: str) -> bool:
    """Whether a host, with or without brackets, is an IP address."""
    try:
        ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True
