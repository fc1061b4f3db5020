"""Builds the headers of a request. Secret ones are separate: only the feed's own server may see them."""

import re
from base64 import b64encode

from feedmill.model.fetch_options import FetchOptions
from feedmill.model.fetch_outcome import Validators
from feedmill.outbound.content_encoding import ACCEPT_ENCODING

ACCEPT = (
    "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9, "
    "application/xml;q=0.9, text/xml;q=0.9, */*;q=0.8"
)
MAX_VALIDATOR = 4096
# Control characters but the tab, and halves of surrogate pairs.
UNSENDABLE_CHARACTERS = re.compile("[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")
# Headers of the protocol itself, which a feed's own headers can't change.
RESERVED_HEADERS = frozenset(
    {"host", "connection", "content-length", "transfer-encoding", "te", "trailer", "upgrade", "expect"}
    | {"keep-alive", "proxy-connection", "proxy-authorization", "accept-encoding", "range"}
    | {"if-none-match", "if-modified-since"}
)


def request_headers(user_agent: str, validators: Validators, options: FetchOptions) -> dict[str, str]:
    """The headers that any server may see."""
    headers = {
        "User-Agent": options.user_agent or user_agent,
        "Accept": ACCEPT,
        "Accept-Encoding": ACCEPT_ENCODING,
    }
    if validators.etag is not None and _sendable(validators.etag):
        headers["If-None-Match"] = validators.etag
    if validators.last_modified is not None and _sendable(validators.last_modified):
        headers["If-Modified-Since"] = validators.last_modified
    return headers


def secret_headers(options: FetchOptions, credentials_in_url: tuple[str, str] | None) -> dict[str, str]:
    """The headers that only the feed's own server may see."""
    headers = {name: value for name, value in options.headers.items() if name.strip().lower() not in RESERVED_HEADERS}
    credentials = options.basic_auth or credentials_in_url
    if credentials is not None:
        headers["Authorization"] = _basic(credentials)
    if options.cookie:
        headers["Cookie"] = options.cookie
    return headers


def proxy_headers(credentials: tuple[str, str] | None) -> dict[str, str]:
    """The headers that only the proxy may see."""
    return {"Proxy-Authorization": _basic(credentials)} if credentials else {}


def _basic(credentials: tuple[str, str]) -> str:
    return f"Basic {b64encode(':'.join(credentials).encode()).decode()}"


def _sendable(value: str) -> bool:
    """Whether a validator can be sent back as it was received: it is not too long and has no control characters."""
    return 0 < len(value) <= MAX_VALIDATOR and not UNSENDABLE_CHARACTERS.search(value)
