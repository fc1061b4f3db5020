"""The HTTP client: every request that Feedmill makes to the web is one of its calls."""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from ssl import SSLContext
from types import TracebackType
from typing import TYPE_CHECKING, Self

from feedmill.i18n.messages import Message
from feedmill.model.fetch_options import FetchOptions
from feedmill.model.fetch_outcome import FetchOutcome, Refused, Throttled, Validators
from feedmill.optional_imports import import_by_name
from feedmill.outbound.address_policy import AddressPolicy
from feedmill.outbound.blocked_hosts import HostBlocklist, NoBlocklist
from feedmill.outbound.dns import HostResolver, SystemResolver
from feedmill.outbound.errors import RefusedError, RetryableError
from feedmill.outbound.fetch_limits import FetchLimits
from feedmill.outbound.host_pacing import HostBusy, Pacer, read_public_suffixes
from feedmill.outbound.http_response import HttpResponse
from feedmill.outbound.redirects import RedirectChain, RequestPayload
from feedmill.outbound.urls import RequestTarget, parse_url

if TYPE_CHECKING:
    from feedmill.outbound.http_session import HttpSession

# Imported with the first request: aiohttp takes ten megabytes, and many processes send none.
HTTP_SESSION = "feedmill.outbound.http_session:HttpSession"
DEFAULT_OPTIONS = FetchOptions()
DEFAULT_LIMITS = FetchLimits()


class Client:
    """A client with limits on time, size and pace that connects only to addresses that the policy allows.

    At most `at_once` requests run at a time. Clients that share a pacer take turns at hosts.
    """

    def __init__(
        self,
        pacer: Pacer,
        policy: AddressPolicy,
        user_agent: str,
        limits: FetchLimits = DEFAULT_LIMITS,
        at_once: int = 20,
        resolver: HostResolver | None = None,
        tls: SSLContext | None = None,
        blocklist: HostBlocklist | None = None,
    ) -> None:
        self._pacer = pacer
        self._policy = policy
        self._user_agent = user_agent
        self._limits = limits
        self._slots = asyncio.Semaphore(at_once)
        self._resolver: HostResolver = resolver or SystemResolver()
        self._tls = tls
        self._blocklist: HostBlocklist = blocklist or NoBlocklist()
        self._session: HttpSession | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes idle connections. The client can't be used afterwards."""
        if self._session is not None:
            await self._session.close()
        self._resolver.close()

    async def get(
        self,
        url: str,
        validators: Validators | None = None,
        limits: FetchLimits | None = None,
        options: FetchOptions = DEFAULT_OPTIONS,
    ) -> FetchOutcome:
        """Fetches a URL and follows its redirects. Never raises for what a server does: that is an outcome."""
        return await self._request(url, limits, options, validators or Validators(), None)

    async def post(
        self,
        url: str,
        payload: RequestPayload,
        limits: FetchLimits | None = None,
        options: FetchOptions = DEFAULT_OPTIONS,
    ) -> FetchOutcome:
        """Sends the payload. Any 2xx is a `Response`, with its body if the payload wants it. Redirects as it says.

        It may arrive twice: if the server closes a kept-alive connection without a response, it is sent again.
        """
        return await self._request(url, limits, options, Validators(), payload)

    async def _request(
        self,
        url: str,
        limits: FetchLimits | None,
        options: FetchOptions,
        validators: Validators,
        payload: RequestPayload | None,
    ) -> FetchOutcome:
        try:
            chain = RedirectChain(url, parse_url(url), limits or self._limits, options, validators, payload)
        except RefusedError as error:
            return Refused(url, url, error.kind, error.message)
        try:
            while chain.follows(response := await self._send(chain)):
                chain.follow(response)
        except (RefusedError, RetryableError) as error:
            return chain.failed(error)
        except HostBusy as error:
            return chain.deferred(error.wait)
        outcome = chain.conclude(response, datetime.now(UTC))
        await self._pause_if_throttled(chain.target, outcome)
        return outcome

    async def _pause_if_throttled(self, target: RequestTarget, outcome: FetchOutcome) -> None:
        """Pauses requests of every process to the domain or URL that throttles us."""
        if not isinstance(outcome, Throttled):
            return
        length = outcome.until - datetime.now(UTC)
        if outcome.scope == "domain":
            await self._pacer.pause_domain(target, length)
        else:
            await self._pacer.pause_url(target, length)

    async def _send(self, chain: RedirectChain) -> HttpResponse:
        """Sends one request of the chain, after the checks of its host and when it is its turn."""
        await self._blocklist.check(chain.target.host)
        proxy = await self._proxy(chain)
        session = await self._open_session()
        async with await self._turn(chain, proxy is not None):
            return await session.send(chain, proxy)

    async def _turn(self, chain: RedirectChain, by_proxy: bool) -> AbstractAsyncContextManager[None]:
        """A turn at the target's host. Private hosts that the operator allowed are not paced."""
        chain.is_private = await self._is_private(chain.target, chain.limits, by_proxy)
        if chain.is_private:
            return self._slots
        return self._pacer.turn(chain.target, self._slots, chain.time_left)

    async def _is_private(self, target: RequestTarget, limits: FetchLimits, by_proxy: bool = False) -> bool:
        """Whether the target is an allowed private address; raises `RefusedError` if it may not be reached."""
        try:
            addresses = [target.host] if target.is_address else await self._resolve(target.host, limits)
        except RetryableError:
            if by_proxy:
                return False
            raise
        verdicts = {self._policy.verdict(address, target.port) for address in addresses}
        if not verdicts & {"public", "allowed"}:
            raise _rejection("port" in verdicts, target)
        return "public" not in verdicts

    async def _resolve(self, host: str, limits: FetchLimits) -> Sequence[str]:
        try:
            async with asyncio.timeout(limits.connect.total_seconds()):
                return await self._resolver.resolve(host)
        except (OSError, UnicodeError) as error:
            raise RetryableError("dns", Message("fetch.host_not_found")) from error

    async def _proxy(self, chain: RedirectChain) -> RequestTarget | None:
        if chain.options.proxy is None:
            return None
        proxy = parse_url(chain.options.proxy)
        try:
            await self._blocklist.check(proxy.host)
        except RefusedError as error:
            raise RefusedError("options", Message("fetch.proxy_blocked")) from error
        await self._is_private(proxy, chain.limits)
        return proxy

    async def _open_session(self) -> "HttpSession":
        if self._session is None:
            # In a thread: the import takes a while and would block the event loop.
            http_session = await asyncio.to_thread(_import_session)
            if self._session is None:
                self._session = http_session(self._resolver, self._policy, self._user_agent, self._tls)
        return self._session


def _import_session() -> type["HttpSession"]:
    read_public_suffixes()
    session: type[HttpSession] = import_by_name(HTTP_SESSION)
    return session


def _rejection(only_port: bool, target: RequestTarget) -> RefusedError:
    if only_port:
        return RefusedError("port", Message("fetch.port", port=target.port))
    return RefusedError("address", Message("fetch.private_address", host=target.host))
