"""The client: every request that Feedmill makes to the outside is one of its calls."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from ssl import SSLContext
from types import TracebackType
from typing import Self

from aiohttp import ClientResponse, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector
from yarl import URL

from feedmill.model.outcome import Outcome, Refused, Throttled, Validators
from feedmill.outbound.addresses import AddressPolicy
from feedmill.outbound.answers import Answer
from feedmill.outbound.asking import proxy_headers
from feedmill.outbound.blocks import Blocks, NoBlocks
from feedmill.outbound.connections import AskedOnce, CheckedSockets, OwnResolver, certificate_until
from feedmill.outbound.encodings import Body, TooLarge
from feedmill.outbound.failures import Rejected, Stumbled, translated
from feedmill.outbound.names import Names, SystemNames
from feedmill.outbound.options import FetchOptions, Limits
from feedmill.outbound.pacing import Pacer, TooFar
from feedmill.outbound.trip import Payload, Trip
from feedmill.outbound.urls import Target, parse

MAX_HEADER = 128 * 1024
MAX_HEADERS = 128
KEEP_ALIVE = 5.0
NO_OPTIONS = FetchOptions()
DEFAULT_LIMITS = Limits()


class Client:
    """A polite, bounded client that only reaches what the policy allows.

    At most `at_once` requests run at a time; clients that share a pacer share the turns at hosts.
    """

    def __init__(
        self,
        pacer: Pacer,
        policy: AddressPolicy,
        user_agent: str,
        limits: Limits = DEFAULT_LIMITS,
        at_once: int = 20,
        names: Names | None = None,
        tls: SSLContext | None = None,
        blocks: Blocks | None = None,
    ) -> None:
        self._pacer = pacer
        self._policy = policy
        self._user_agent = user_agent
        self._limits = limits
        self._slots = asyncio.Semaphore(at_once)
        self._names: Names = names or SystemNames()
        self._tls = tls
        self._blocks: Blocks = blocks or NoBlocks()
        self._session: ClientSession | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes idle connections; the client can't be used afterwards."""
        if self._session is not None:
            await self._session.close()
        self._names.close()

    async def get(
        self,
        url: str,
        validators: Validators | None = None,
        limits: Limits | None = None,
        options: FetchOptions = NO_OPTIONS,
    ) -> Outcome:
        """Fetches a URL through its redirects. Whatever the server does, an outcome comes back."""
        return await self._travel(url, limits, options, validators or Validators(), None)

    async def post(
        self,
        url: str,
        payload: Payload,
        limits: Limits | None = None,
        options: FetchOptions = NO_OPTIONS,
    ) -> Outcome:
        """Sends something. Any 2xx is a `Response`, without its body; redirects are not followed."""
        return await self._travel(url, limits, options, Validators(), payload)

    async def _travel(
        self,
        url: str,
        limits: Limits | None,
        options: FetchOptions,
        validators: Validators,
        payload: Payload | None,
    ) -> Outcome:
        try:
            trip = Trip(url, parse(url), limits or self._limits, options, validators, payload)
        except Rejected as error:
            return Refused(url, url, error.kind, str(error))
        try:
            while trip.wants_to_follow(answer := await self._ask(trip)):
                trip.follow(answer)
        except (Rejected, Stumbled) as error:
            return trip.stopped(error)
        except TooFar as error:
            return trip.deferred(error.wait)
        outcome = trip.conclude(answer, datetime.now(UTC))
        await self._respect(trip.target, outcome)
        return outcome

    async def _respect(self, target: Target, outcome: Outcome) -> None:
        """Tells everybody who might ask this server that it wants a rest."""
        if not isinstance(outcome, Throttled):
            return
        length = outcome.until - datetime.now(UTC)
        if outcome.scope == "domain":
            await self._pacer.pause_domain(target, length)
        else:
            await self._pacer.pause_url(target, length)

    async def _ask(self, trip: Trip) -> Answer:
        """One hop: where is it, may we, is it our turn, and what does it say."""
        await self._blocks.refuse(trip.target.host)
        proxy = await self._proxy(trip)
        async with await self._turn(trip, proxy is not None):
            started = time.monotonic()
            try:
                with translated():
                    return await self._exchange(trip, proxy)
            finally:
                trip.spent += timedelta(seconds=time.monotonic() - started)

    async def _turn(self, trip: Trip, proxied: bool) -> AbstractAsyncContextManager[None]:
        """A turn at the target's host; hosts that the operator allowed on purpose are not paced."""
        trip.is_private = await self._is_private(trip.target, trip.limits, proxied)
        if trip.is_private:
            return self._slots
        return self._pacer.turn(trip.target, self._slots, trip.left)

    async def _is_private(self, target: Target, limits: Limits, proxied: bool = False) -> bool:
        """Whether the target is one of the operator's own; `Rejected` when it may not be reached at all."""
        try:
            addresses = [target.host] if target.is_address else await self._look_up(target.host, limits)
        except Stumbled:
            if proxied:
                return False
            raise
        verdicts = {self._policy.verdict(address, target.port) for address in addresses}
        if not verdicts & {"public", "allowed"}:
            raise _rejection("port" in verdicts, target)
        return "public" not in verdicts

    async def _look_up(self, host: str, limits: Limits) -> Sequence[str]:
        try:
            async with asyncio.timeout(limits.connect.total_seconds()):
                return await self._names.look_up(host)
        except (OSError, UnicodeError) as error:
            raise Stumbled("dns", "the host name was not found") from error

    async def _proxy(self, trip: Trip) -> Target | None:
        if trip.options.proxy is None:
            return None
        proxy = parse(trip.options.proxy)
        try:
            await self._blocks.refuse(proxy.host)
        except Rejected as error:
            raise Rejected("options", "its proxy's host is blocked by an admin") from error
        await self._is_private(proxy, trip.limits)
        return proxy

    async def _exchange(self, trip: Trip, proxy: Target | None) -> Answer:
        headers = trip.headers(self._user_agent)
        for_proxy = proxy_headers(proxy.credentials) if proxy else {}
        if trip.target.scheme == "http":
            headers |= for_proxy
        async with self._open_session().request(
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
            answer = Answer(response.status, response.raw_headers)
            answer.certificate_until = certificate_until(response)
            if trip.wants_body(response.status):
                await _read(response, answer, trip.limits.max_bytes)
            return answer

    def _open_session(self) -> ClientSession:
        if self._session is None:
            connector = TCPConnector(
                resolver=OwnResolver(self._names),
                socket_factory=CheckedSockets(self._policy),
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
                response_class=AskedOnce,
            )
        return self._session


async def _read(response: ClientResponse, answer: Answer, max_bytes: int) -> None:
    """Adds the whole body, decoded, to the answer, or raises: a part of it is worth nothing."""
    body = Body(answer.text("content-encoding"), max_bytes)
    if (response.content_length or 0) > max_bytes:
        raise TooLarge
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
def _timeout(limits: Limits, left: timedelta) -> ClientTimeout:
    total = max(left.total_seconds(), 0.001)  # aiohttp takes zero for no limit at all
    connect, read = limits.connect.total_seconds(), limits.read.total_seconds()
    return ClientTimeout(total=total, sock_connect=connect, sock_read=read, ceil_threshold=3600)


def _rejection(only_port: bool, target: Target) -> Rejected:
    if only_port:
        return Rejected("port", f"port {target.port} is not one that web servers use")
    return Rejected("address", f"{target.host} is a private or special address")
