"""Refuses requests whose Host header names another site, against DNS rebinding.

In that attack `evil.example` makes its own name resolve to our address. The reader's browser then treats Feedmill as a
part of `evil.example` and lets its scripts read the pages. The `Host` header reveals the attack, because it contains
that name. An IP address in `Host` is harmless: such a page did come from that address.
"""

import socket
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from feedmill.model.hosts import is_ip_literal, parse_host
from feedmill.optional_imports import import_by_name
from feedmill.serve.http.problem_json import problem_response
from feedmill.serve.http.security_headers import STRICT_HEADERS
from feedmill.settings import PREFIX, Settings

MISDIRECTED = 421
ANY = "*"
# Contains no secrets, and the error page needs the style sheets.
PUBLIC_FILES = "/static/"
# Imported when a page is refused: the pages are imported with the first request for one.
RENDER_TEMPLATE = "feedmill.serve.web.core.render_page:render_template"


class AllowedHosts:
    """ASGI middleware that refuses requests for other hosts with a page that names the setting to change."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app, self._settings = app, settings
        self._hosts = allowed_hosts(settings)
        # Browsers send the same few names again and again.
        self._is_allowed = lru_cache(256)(self._check)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not scope["path"].startswith(PUBLIC_FILES):
            host_headers = tuple([value for name, value in scope["headers"] if name == b"host"])
            if not self._is_allowed(host_headers):
                await self._refuse(Request(scope), host_headers)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _check(self, host_headers: tuple[bytes, ...]) -> bool:
        if not host_headers:  # HTTP/1.0, as in simple health checks; browsers always send it
            return True
        host = parse_host(host_headers[0].decode("latin-1")) if len(host_headers) == 1 else None
        return host is not None and (ANY in self._hosts or _is_local_or_ip(host) or host in self._hosts)

    def _refuse(self, request: Request, host_headers: tuple[bytes, ...]) -> Response:
        authority = host_headers[0].decode("latin-1")
        host = parse_host(authority) if len(host_headers) == 1 else None
        name, value = self._missing_setting(request.url.scheme, authority, host) if host else ("", "")
        if request.url.path.startswith("/api/"):
            return problem_response(MISDIRECTED, "host_not_allowed", _explain(host, name, value))
        if "text/html" not in request.headers.get("accept", ""):
            return PlainTextResponse(f"{_explain(host, name, value)}\n", MISDIRECTED, headers=STRICT_HEADERS)
        variable = f"{PREFIX}{name.upper()}={value}"
        response: Response = import_by_name(RENDER_TEMPLATE)(
            request, "core/unknown_host.html", MISDIRECTED, host=host, variable=variable, name=name, value=value
        )
        response.headers.update(STRICT_HEADERS)
        return response

    def _missing_setting(self, scheme: str, authority: str, host: str) -> tuple[str, str]:
        """The setting that would allow the host, and its new value."""
        if not self._settings.public_url:
            return "public_url", f"{scheme}://{authority}"
        return "allowed_hosts", ",".join([*self._settings.allowed_hosts, host])


def allowed_hosts(settings: Settings) -> frozenset[str]:
    """The allowed host names, besides IP addresses and localhost."""
    public = parse_host(urlsplit(settings.public_url).netloc) if settings.public_url else None
    own = parse_host(socket.gethostname())
    names = {*settings.allowed_hosts, parse_host(settings.listen), public, own}
    if own is not None:
        names.add(f"{own.partition('.')[0]}.local")  # its mDNS name in the local network
    return frozenset(name for name in names if name)


def _is_local_or_ip(host: str) -> bool:
    """Whether a host is an IP address or this machine."""
    return is_ip_literal(host) or host == "localhost" or host.endswith(".localhost")


def _explain(host: str | None, name: str, value: str) -> str:
    if host is None:
        return "the request names no valid host"
    return f"this server does not go by the name {host}; to allow it, set {PREFIX}{name.upper()}={value}"
