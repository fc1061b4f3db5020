"""Validates how a feed is requested (login, cookie, proxy, headers), as a form sends it."""

import re
from dataclasses import dataclass

import msgspec

from feedmill.errors import BadInput
from feedmill.outbound.errors import RefusedError
from feedmill.outbound.fetch_options import FetchOptions
from feedmill.outbound.urls import parse_url

LONGEST = 4000
MOST_HEADERS = 20

_SENDABLE = re.compile(r"[\x20-\x7e]*")
_HEADER = re.compile(r"([A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}):[ \t]*([\x20-\x7e]*)")


@dataclass(frozen=True, slots=True)
class RequestOptionsForm:
    """The fields of the form. What opens a feed (password, cookie, proxy, headers) is never shown: empty, it stays."""

    name: str = ""
    password: str = ""
    cookie: str = ""
    proxy: str = ""
    user_agent: str = ""
    headers: str = ""
    verify_tls: bool = True


def parse_http_options(written: RequestOptionsForm, kept: str | None = None) -> str | None:
    """As the feed's row keeps it, None when it says nothing; `BadInput` names the field that can't be sent."""
    before = msgspec.json.decode(kept, type=FetchOptions) if kept else FetchOptions()
    _check(written)
    options = FetchOptions(
        basic_auth=_login(written, before),
        headers=_headers(written.headers) if written.headers.strip() else before.headers,
        cookie=written.cookie or before.cookie,
        proxy=_proxy(written.proxy) if written.proxy else before.proxy,
        user_agent=written.user_agent or None,
        verify_tls=written.verify_tls,
    )
    return None if options == FetchOptions() else msgspec.json.encode(options).decode()


def _check(written: RequestOptionsForm) -> None:
    for field in ("name", "password", "cookie", "proxy", "user_agent"):
        value = getattr(written, field)
        if len(value) > LONGEST or not _SENDABLE.fullmatch(value):
            raise BadInput("only ASCII letters, digits and signs can be sent", field)
    if ":" in written.name:
        raise BadInput("a name can't have a colon in it", "name")
    if written.password and not written.name:
        raise BadInput("a password needs a name", "name")


def _login(written: RequestOptionsForm, before: FetchOptions) -> tuple[str, str] | None:
    if not written.name:
        return None
    if before.basic_auth and before.basic_auth[0] == written.name and not written.password:
        return before.basic_auth
    return written.name, written.password


def _headers(text: str) -> dict[str, str]:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    found = [_HEADER.fullmatch(line) for line in lines]
    if len(lines) > MOST_HEADERS or len(text) > LONGEST or not all(found):
        raise BadInput(f"headers are at most {MOST_HEADERS} lines like 'Name: value'", "headers")
    return {line[1]: line[2] for line in found if line}


def _proxy(text: str) -> str:
    try:
        is_http = parse_url(text).url.startswith("http://")
    except RefusedError as error:
        raise BadInput(f"the proxy can't be used: {error}", "proxy") from error
    if not is_http:
        raise BadInput("a proxy is an address that begins with http://", "proxy")
    return text
