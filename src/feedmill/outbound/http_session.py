"""Sends single HTTP requests with aiohttp, and translates its errors into ours."""

import time
from datetime import timedelta
from functools import lru_cache
from ssl import SSLContext

from aiohttp import ClientResponse, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector
from yarl import URL

from feedmill.outbound.address_policy import AddressPolicy
from feedmill.outbound.checked_connections import (
    AiohttpResolver,
    CheckedSocketFactory,
    IdleConnectionClosed,
    SingleRequestResponse,
    certificate_expiry,
)
from feedmill.outbound.content_encoding import BodyDecoder, BodyTooLarge
from feedmill.outbound.dns import HostResolver
from feedmill.outbound.error_translation import translate_errors
from feedmill.outbound.fetch_options import FetchLimits
from feedmill.outbound.redirects import RedirectChain
from feedmill.outbound.request_headers import proxy_headers
from feedmill.outbound.response_headers import HttpResponse
from feedmill.outbound.urls import RequestTarget

MAX_HEADER = 128 * 1024
MAX_HEADERS = 128
KEEP_ALIVE = 5.0


class HttpSession:
    """Keeps connections open for a while and connects only to addresses that the policy allows."""

    def __init__(self, names: HostResolver, policy: AddressPolicy, user_agent: str, tls: SSLContext | None) -> None:
        self._user_agent = user_agent
        self._tls = tls
        connector = TCPConnector(
            resolver=AiohttpResolver(names),
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

    async def ask(self, trip: RedirectChain, proxy: RequestTarget | None) -> HttpResponse:
        """Sends the request and reads the answer; raises `RefusedError` or `RetryableError`."""
        with translate_errors():
            try:
                return await self._exchange(trip, proxy)
            except IdleConnectionClosed:
                if trip.payload is None:  # aiohttp has sent a GET again already
                    raise
                return await self._exchange(trip, proxy)

    async def _exchange(self, trip: RedirectChain, proxy: RequestTarget | None) -> HttpResponse:
        started = time.monotonic()
        try:
            return await self._request(trip, proxy)
        finally:
            trip.spent += timedelta(seconds=time.monotonic() - started)

    async def _request(self, trip: RedirectChain, proxy: RequestTarget | None) -> HttpResponse:
        headers = trip.headers(self._user_agent)
        for_proxy = proxy_headers(proxy.credentials) if proxy else {}
        if trip.target.scheme == "http":
            headers |= for_proxy
        async with self._session.request(
            "GET" if trip.payload is None else "POST",
            URL(trip.target.url, encoded=True),
            data=trip.payload.body if trip.payload else None,
            headers=headers,
            timeout=_timeout(trip.limits, trip.left),
            ssl=self._tls or True if trip.options.verify_tls else False,
            proxy=URL(proxy.url, encoded=True) if proxy else None,
            proxy_headers=for_proxy or None,
            allow_redirects=False,
        ) as response:
            answer = HttpResponse(response.status, response.raw_headers)
            answer.certificate_until = certificate_expiry(response)
            if trip.wants_body(response.status):
                await _read(response, answer, trip.limits.max_bytes)
            return answer


async def _read(response: ClientResponse, answer: HttpResponse, max_bytes: int) -> None:
    """Adds the whole body, decoded, to the answer, or raises: a part of it is worth nothing."""
    body = BodyDecoder(answer.text("content-encoding"), max_bytes)
    if (response.content_length or 0) > max_bytes:
        raise BodyTooLarge
    answer.delimited = response.content_length is not None or "chunked" in answer.text("transfer-encoding").lower()
    protocol = response.connection.protocol if response.connection and not answer.delimited else None
    closed = protocol.closed if protocol is not None else None
    while piece := await response.content.readany():
        body.feed(piece)
    if closed is not None and closed.done():
        closed.result()  # raises when it was not the server's goodbye that ended the body
    answer.body = body.finish()
    answer.received_bytes = body.received_bytes


@lru_cache(maxsize=64)
def _timeout(limits: FetchLimits, left: timedelta) -> ClientTimeout:
    total = max(left.total_seconds(), 0.001)  # aiohttp takes zero for no limit at all
    connect, read = limits.connect.total_seconds(), limits.read.total_seconds()
    return ClientTimeout(total=total, sock_connect=connect, sock_read=read, ceil_threshold=3600)
