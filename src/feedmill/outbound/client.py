"""The HTTP client: every request that Feedmill makes to the web is one of its calls."""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from ssl import SSLContext
from types import TracebackType
from typing import TYPE_CHECKING, Self

from feedmill.lazy_imports import lazy_import
from feedmill.model.fetch_outcome import FetchOutcome, Refused, Throttled, Validators
from feedmill.outbound.address_policy import AddressPolicy
from feedmill.outbound.blocked_hosts import HostBlocklist, NoBlocklist
from feedmill.outbound.dns import HostResolver, SystemResolver
from feedmill.outbound.errors import RefusedError, RetryableError
from feedmill.outbound.fetch_options import FetchLimits, FetchOptions
from feedmill.outbound.host_pacing import HostBusy, Pacer, read_public_suffixes
from feedmill.outbound.redirects import RedirectChain, RequestPayload
from feedmill.outbound.response_headers import HttpResponse
from feedmill.outbound.urls import RequestTarget, parse_url

if TYPE_CHECKING:
    from feedmill.outbound.http_session import HttpSession

# Imported with the first request: aiohttp and what it needs take ten megabytes, and many processes ask nobody.
HTTP_SESSION = "feedmill.outbound.http_session:HttpSession"
DEFAULT_OPTIONS = FetchOptions()
DEFAULT_LIMITS = FetchLimits()


class Client:
    """A polite, bounded client that only reaches what the policy allows.

    At most `at_once` requests run at a time; clients that share a pacer share the turns at hosts.
    """

    def __init__(
        self,
        pacer: Pacer,
        policy: AddressPolicy,
        user_agent: str,
        limits: FetchLimits = DEFAULT_LIMITS,
        at_once: int = 20,
        names: HostResolver | None = None,
        tls: SSLContext | None = None,
        blocks: HostBlocklist | None = None,
    ) -> None:
        self._pacer = pacer
        self._policy = policy
        self._user_agent = user_agent
        self._limits = limits
        self._slots = asyncio.Semaphore(at_once)
        self._names: HostResolver = names or SystemResolver()
        self._tls = tls
        self._blocks: HostBlocklist = blocks or NoBlocklist()
        self._session: HttpSession | None = None

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
        limits: FetchLimits | None = None,
        options: FetchOptions = DEFAULT_OPTIONS,
    ) -> FetchOutcome:
        """Fetches a URL through its redirects. Whatever the server does, an outcome comes back."""
        return await self._travel(url, limits, options, validators or Validators(), None)

    async def post(
        self,
        url: str,
        payload: RequestPayload,
        limits: FetchLimits | None = None,
        options: FetchOptions = DEFAULT_OPTIONS,
    ) -> FetchOutcome:
        """Sends something. Any 2xx is a `Response`, without its body; redirects are not followed.

        It may arrive twice: when the server closes a kept-alive connection without an answer, it is sent again.
        """
        return await self._travel(url, limits, options, Validators(), payload)

    async def _travel(
        self,
        url: str,
        limits: FetchLimits | None,
        options: FetchOptions,
        validators: Validators,
        payload: RequestPayload | None,
    ) -> FetchOutcome:
        try:
            trip = RedirectChain(url, parse_url(url), limits or self._limits, options, validators, payload)
        except RefusedError as error:
            return Refused(url, url, error.kind, str(error))
        try:
            while trip.wants_to_follow(answer := await self._ask(trip)):
                trip.follow(answer)
        except (RefusedError, RetryableError) as error:
            return trip.stopped(error)
        except HostBusy as error:
            return trip.deferred(error.wait)
        outcome = trip.conclude(answer, datetime.now(UTC))
        await self._respect(trip.target, outcome)
        return outcome

    async def _respect(self, target: RequestTarget, outcome: FetchOutcome) -> None:
        """Tells everybody who might ask this server that it wants a rest."""
        if not isinstance(outcome, Throttled):
            return
        length = outcome.until - datetime.now(UTC)
        if outcome.scope == "domain":
            await self._pacer.pause_domain(target, length)
        else:
            await self._pacer.pause_url(target, length)

    async def _ask(self, trip: RedirectChain) -> HttpResponse:
        """One hop: where is it, may we, is it our turn, and what does it say."""
        await self._blocks.refuse(trip.target.host)
        proxy = await self._proxy(trip)
        session = await self._open_session()
        async with await self._turn(trip, proxy is not None):
            return await session.ask(trip, proxy)

    async def _turn(self, trip: RedirectChain, proxied: bool) -> AbstractAsyncContextManager[None]:
        """A turn at the target's host; hosts that the operator allowed on purpose are not paced."""
        trip.is_private = await self._is_private(trip.target, trip.limits, proxied)
        if trip.is_private:
            return self._slots
        return self._pacer.turn(trip.target, self._slots, trip.left)

    async def _is_private(self, target: RequestTarget, limits: FetchLimits, proxied: bool = False) -> bool:
        """Whether the target is one of the operator's own; `RefusedError` when it may not be reached at all."""
        try:
            addresses = [target.host] if target.is_address else await self._look_up(target.host, limits)
        except RetryableError:
            if proxied:
                return False
            raise
        verdicts = {self._policy.verdict(address, target.port) for address in addresses}
        if not verdicts & {"public", "allowed"}:
            raise _rejection("port" in verdicts, target)
        return "public" not in verdicts

    async def _look_up(self, host: str, limits: FetchLimits) -> Sequence[str]:
        try:
            async with asyncio.timeout(limits.connect.total_seconds()):
                return await self._names.look_up(host)
        except (OSError, UnicodeError) as error:
            raise RetryableError("dns", "the host name was not found") from error

    async def _proxy(self, trip: RedirectChain) -> RequestTarget | None:
        if trip.options.proxy is None:
            return None
        proxy = parse_url(trip.options.proxy)
        try:
            await self._blocks.refuse(proxy.host)
        except RefusedError as error:
            raise RefusedError("options", "its proxy's host is blocked by an admin") from error
        await self._is_private(proxy, trip.limits)
        return proxy

    async def _open_session(self) -> "HttpSession":
        if self._session is None:
            # In a thread: what a session needs takes a moment to import, and the event loop has others to answer.
            http_session = await asyncio.to_thread(_import_session)
            if self._session is None:
                self._session = http_session(self._names, self._policy, self._user_agent, self._tls)
        return self._session


def _import_session() -> type["HttpSession"]:
    read_public_suffixes()
    session: type[HttpSession] = lazy_import(HTTP_SESSION)
    return session


def _rejection(only_port: bool, target: RequestTarget) -> RefusedError:
    if only_port:
        return RefusedError("port", f"port {target.port} is not one that web servers use")
    return RefusedError("address", f"{target.host} is a private or special address")
