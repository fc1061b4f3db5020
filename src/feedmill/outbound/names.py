"""Host names turned into addresses, and sockets opened to checked addresses alone."""

import asyncio
import socket
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from aiohttp.abc import AbstractResolver, ResolveResult

from feedmill.outbound.addresses import AddressPolicy

THREADS = 32
REMEMBER_SECONDS = 30.0
REMEMBER_NAMES = 4096


class Names(Protocol):
    """Looks up host names."""

    async def look_up(self, host: str) -> Sequence[str]:
        """The addresses of a host; an OSError when there are none."""

    def close(self) -> None:
        """Ends what the look-ups need; closing twice is fine."""


class SystemNames:
    """The system's resolver, in threads of its own: a name server that hangs must not hold up other work."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="names")
        self._known: dict[str, tuple[float, Sequence[str]]] = {}

    async def look_up(self, host: str) -> Sequence[str]:
        until, addresses = self._known.get(host, (0.0, ()))
        if until > time.monotonic():
            return addresses
        loop = asyncio.get_running_loop()
        addresses = await loop.run_in_executor(self._threads, _ask_system, host)
        self._remember(host, addresses)
        return addresses

    def _remember(self, host: str, addresses: Sequence[str]) -> None:
        if len(self._known) >= REMEMBER_NAMES:
            self._known.clear()
        self._known[host] = (time.monotonic() + REMEMBER_SECONDS, addresses)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def _ask_system(host: str) -> Sequence[str]:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(_with_scope(info[4]) for info in found))


def _with_scope(sockaddr: tuple[Any, ...]) -> str:
    """The address as text; one that is bound to an interface says so, and is refused for it."""
    scoped = len(sockaddr) == 4 and sockaddr[3]
    return f"{sockaddr[0].partition('%')[0]}%{sockaddr[3]}" if scoped else str(sockaddr[0])


class CheckedResolver(AbstractResolver):
    """Gives aiohttp the addresses of a name that the policy lets us connect to."""

    def __init__(self, names: Names, policy: AddressPolicy) -> None:
        self._names = names
        self._policy = policy

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        addresses = await self._names.look_up(host)
        allowed = [item for item in addresses if self._policy.verdict(item, port) in ("public", "allowed")]
        if not allowed:
            raise OSError(f"no address of {host} may be connected to")
        return [_resolved(host, address, port) for address in allowed]

    async def close(self) -> None:
        """Nothing to close: the names belong to whoever made them."""


def _resolved(host: str, address: str, port: int) -> ResolveResult:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
    return ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=flags)


class CheckedSockets:
    """Opens sockets for aiohttp. The address checked is the one that connect() gets, so no answer of a
    name server can come between."""

    def __init__(self, policy: AddressPolicy) -> None:
        self._policy = policy

    def __call__(self, info: tuple[Any, ...]) -> socket.socket:
        family, kind, protocol, _, sockaddr = info
        if self._policy.verdict(_with_scope(sockaddr), sockaddr[1]) not in ("public", "allowed"):
            raise OSError(f"{sockaddr[0]} port {sockaddr[1]} may not be connected to")
        return socket.socket(family, kind, protocol)
