"""Parses and normalizes URLs for requests."""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from urllib.parse import quote, unquote_to_bytes, urljoin

import idna

from feedmill.i18n.messages import Message
from feedmill.outbound.errors import RefusedError

DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_URL = 8192
MAX_NAME = 253
URL_PATTERN = re.compile(r"(https?)://([^/?#]*)([^?#]*)(?:\?([^#]*))?", re.IGNORECASE | re.DOTALL)
# Not encoded in a path or query; "%" too, so that nothing is encoded twice. "'" is encoded, as in
# `absolute_urls.py`, so that a URL has one form.
UNENCODED_CHARACTERS = "!$%&()*+,-./:;=?@_~[]|^"
ENCODED_PATTERN = re.compile(f"[A-Za-z0-9{re.escape(UNENCODED_CHARACTERS)}]*")
# Browsers strip these at the ends and drop the last three inside.
BLANKS = "".join(map(chr, range(0x21)))
INNER_BLANKS = str.maketrans("", "", "\t\r\n")
NUMBER_PATTERN = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")
HOST_NAME_PATTERN = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_-]{1,63})*", re.ASCII)


@dataclass(frozen=True, slots=True)
class RequestTarget:
    """The parts of a normalized URL. `host` is ASCII, in lower case, without brackets or trailing dot."""

    scheme: str
    host: str
    port: int
    path: str
    credentials: tuple[str, str] | None = None
    url: str = field(init=False)

    def __post_init__(self) -> None:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == DEFAULT_PORTS[self.scheme] else f":{self.port}"
        object.__setattr__(self, "url", f"{self.scheme}://{host}{port}{self.path}")

    @property
    def is_address(self) -> bool:
        return is_ip_address(self.host)

    def may_share_secrets_with(self, other: "RequestTarget") -> bool:
        """Whether a secret that was given for this target may be sent to `other`."""
        if self.host != other.host:
            return False
        if (self.scheme, self.port) == (other.scheme, other.port):
            return True
        return (self.scheme, self.port, other.scheme, other.port) == ("http", 80, "https", 443)


def may_share_secrets(url: str, other_url: str) -> bool:
    """Whether a login that was given for `url` may be sent to `other_url`; not if one of them can't be requested."""
    try:
        return parse_url(url).may_share_secrets_with(parse_url(other_url))
    except RefusedError:
        return False


def is_ip_address(host: str) -> bool:
    """Whether a host is an IP address, not a name."""
    return ":" in host or host.rpartition(".")[2].isdigit()


def parse_url(url: str) -> RequestTarget:
    """Parses a URL as browsers do; raises `RefusedError` for what is invalid or ambiguous."""
    text = url.strip(BLANKS).translate(INNER_BLANKS)
    if len(text) > MAX_URL:
        raise RefusedError("url", Message("url.too_long"))
    parts = URL_PATTERN.match(text)
    if parts is None:
        has_scheme = text.partition(":")[0].lower() in DEFAULT_PORTS
        raise RefusedError("url" if has_scheme else "scheme", Message("url.scheme"))
    scheme, netloc, path, query = parts.groups()
    scheme = scheme.lower()
    host, port, credentials = _authority(netloc)
    path = _encode(path or "/") + (f"?{_encode(query)}" if query else "")
    return RequestTarget(scheme, host, DEFAULT_PORTS[scheme] if port is None else port, path, credentials)


def resolve_location(base: RequestTarget, location: bytes) -> RequestTarget:
    """The target of a Location header in a response from `base`."""
    try:
        text = location.decode()
    except UnicodeDecodeError:
        text = quote(location, safe=UNENCODED_CHARACTERS + "#")
    text = text.strip(BLANKS).translate(INNER_BLANKS)
    try:
        return parse_url(urljoin(base.url, text))
    except ValueError as error:
        raise RefusedError("url", Message("url.bad_redirect")) from error


@lru_cache(maxsize=4096)
def _authority(netloc: str) -> tuple[str, int | None, tuple[str, str] | None]:
    """Host, port (None if it is not given) and credentials."""
    if "\\" in netloc:
        raise RefusedError("url", Message("url.ambiguous_host"))
    before, _, place = netloc.rpartition("@")
    return _host(place), _port(place), _credentials(before)


def _port(place: str) -> int | None:
    name, _, text = place.rpartition("]")[2].partition(":")
    if name and "]" in place:
        raise RefusedError("url", Message("url.not_ipv6"))
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and int(text) <= 65535):
        raise RefusedError("url", Message("url.bad_port"))
    if int(text) == 0:
        raise RefusedError("port", Message("url.port_zero"))
    return int(text)


def _credentials(userinfo: str) -> tuple[str, str] | None:
    username, _, password = userinfo.partition(":")
    return (_unquote(username), _unquote(password)) if username or password else None


def _unquote(text: str) -> str:
    return unquote_to_bytes(text).decode("utf-8", "replace")


def _encode(text: str) -> str:
    return text if ENCODED_PATTERN.fullmatch(text) else quote(text, safe=UNENCODED_CHARACTERS, errors="replace")


def _host(place: str) -> str:
    if place.startswith("["):
        return _ipv6(place[1:].partition("]")[0])
    name = _unquote(place.partition(":")[0]).rstrip(".")
    if not name or len(name) > MAX_NAME:
        raise RefusedError("url", Message("url.no_host"))
    ascii_name = _ascii(name)
    if NUMBER_PATTERN.fullmatch(ascii_name.rpartition(".")[2]):
        return _ipv4(ascii_name)
    if len(ascii_name) > MAX_NAME or not HOST_NAME_PATTERN.fullmatch(ascii_name):
        raise RefusedError("url", Message("url.bad_host"))
    return ascii_name


def _ascii(name: str) -> str:
    if name.isascii():
        return name.lower()
    try:
        return idna.encode(name, uts46=True, std3_rules=False).decode("ascii").lower().rstrip(".")
    except (idna.IDNAError, UnicodeError) as error:
        raise RefusedError("url", Message("url.bad_host")) from error


def _ipv6(text: str) -> str:
    if "%" in text:
        raise RefusedError("address", Message("url.zone"))
    try:
        return str(IPv6Address(text))
    except AddressValueError as error:
        raise RefusedError("url", Message("url.not_ipv6")) from error


def _ipv4(text: str) -> str:
    """An IPv4 address in any spelling that a resolver accepts: 127.1, 0x7f.0.0.1, 2130706433, 0177.1."""
    parts = text.split(".")
    if len(parts) > 4 or not all(NUMBER_PATTERN.fullmatch(part) for part in parts):
        raise RefusedError("url", Message("url.not_ipv4"))
    try:
        *first, last = [_number(part) for part in parts]
    except ValueError as error:
        raise RefusedError("url", Message("url.not_ipv4")) from error
    if any(part > 255 for part in first) or last >= 256 ** (4 - len(first)):
        raise RefusedError("url", Message("url.not_ipv4"))
    high = sum(part << (24 - 8 * place) for place, part in enumerate(first))
    return str(IPv4Address(high + last))


def _number(part: str) -> int:
    if part[:2].lower() == "0x":
        return int(part[2:] or "0", 16)
    return int(part, 8) if len(part) > 1 and part.startswith("0") else int(part)
