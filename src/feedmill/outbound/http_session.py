"""Sends single HTTP requests with aiohttp, and translates its errors into ours."""

import time
from datetime import timedelta
from functools import lru_cache
from ssl import SSLContext

from aiohttp import ClientResponse, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector
from yarl import URL

from feedmill.outbound.address_policy import AddressPolicy
from feedmill.outbound.checked_connections import AiohttpResolver, CheckedSocketFactory
from feedmill.outbound.content_encoding import BodyDecoder, BodyTooLarge
from feedmill.outbound.dns import HostResolver
from feedmill.outbound.error_translation import translate_errors
from feedmill.outbound.fetch_limits import FetchLimits
from feedmill.outbound.http_response import HttpResponse
from feedmill.outbound.redirects import RedirectChain
from feedmill.outbound.request_headers import proxy_headers
from feedmill.outbound.single_request_response import IdleConnectionClosed, SingleRequestResponse, certificate_expiry
from feedmill.outbound.urls import RequestTarget

MAX_HEADER = 128 * 1024
MAX_HEADERS = 128
KEEP_ALIVE = 5.0


class HttpSession:
    """Keeps connections open for a few seconds and connects only to addresses that the policy allows."""

    def __init__(self, resolver: HostResolver, policy: AddressPolicy, user_agent: str, tls: SSLContext | None) -> None:
        self._user_agent = user_agent
        self._tls = tls
        connector = TCPConnector(
            resolver=AiohttpResolver(resolver),
            socket_factory=CheckedSocketFactory(policy),
            use_dns_cache=False,
            keepalive_timeout=KEEP_ALIVE,
            limit=0,
        )
        self._session = ClientSession(
            connector=connector,
            cookie_jar=DummyCookieJar(),
            auto_decompress=False,
            max_line_size=MAX_HEADER,
            max_field_size=MAX_HEADER,
            max_headers=MAX_HEADERS,
            response_class=SingleRequestResponse,
        )

    async def close(self) -> None:
        await self._session.close()

    async def send(self, chain: RedirectChain, proxy: RequestTarget | None) -> HttpResponse:
        """Sends the request and reads the response; raises `RefusedError` or `RetryableError`."""
        with translate_errors():
            try:
                return await self._exchange(chain, proxy)
            except IdleConnectionClosed:
                if chain.payload is None:  # aiohttp has already repeated a GET
                    raise
                return await self._exchange(chain, proxy)

    async def _exchange(self, chain: RedirectChain, proxy: RequestTarget | None) -> HttpResponse:
        started = time.monotonic()
        try:
            return await self._request(chain, proxy)
        finally:
            chain.time_spent += timedelta(seconds=time.monotonic() - started)

    async def _request(self, chain: RedirectChain, proxy: RequestTarget | None) -> HttpResponse:
        headers = chain.headers(self._user_agent)
        headers_for_proxy = proxy_headers(proxy.credentials) if proxy else {}
        if chain.target.scheme == "http":
            headers |= headers_for_proxy
        async with self._session.request(
            "GET" if chain.payload is None else chain.payload.method,
            URL(chain.target.url, encoded=True),
            data=chain.payload.body if chain.payload else None,
            headers=headers,
            timeout=_timeout(chain.limits, chain.time_left),
            ssl=self._tls or True if chain.options.verify_tls else False,
            proxy=URL(proxy.url, encoded=True) if proxy else None,
            proxy_headers=headers_for_proxy or None,
            allow_redirects=False,
        ) as incoming:
            response = HttpResponse(incoming.status, incoming.raw_headers)
            response.certificate_until = certificate_expiry(incoming)
            if chain.wants_body(incoming.status):
                await _read_body(incoming, response, chain.limits.max_bytes)
            return response


async def _read_body(incoming: ClientResponse, response: HttpResponse, max_bytes: int) -> None:
    """Reads and decodes the whole body into `response`; raises if it is incomplete."""
    body = BodyDecoder(response.text("content-encoding"), max_bytes)
    if (incoming.content_length or 0) > max_bytes:
        raise BodyTooLarge
    response.delimited = incoming.content_length is not None or "chunked" in response.text("transfer-encoding").lower()
    protocol = incoming.connection.protocol if incoming.connection and not response.delimited else None
    closed = protocol.closed if protocol is not None else None
    while piece := await incoming.content.readany():
        body.feed(piece)
    if closed is not None and closed.done():
        closed.result()  # raises if the connection broke instead of being closed by the server
    response.body = body.finish()
    response.received_bytes = body.received_bytes


@lru_cache(maxsize=64)
def _timeout(limits: FetchLimits, time_left: timedelta) -> ClientTimeout:
    total = max(time_left.total_seconds(), 0.001)  # zero means no limit to aiohttp
    connect, read = limits.connect.total_seconds(), limits.read.total_seconds()
    return ClientTimeout(total=total, sock_connect=connect, sock_read=read, ceil_threshold=3600)
