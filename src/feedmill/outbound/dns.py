"""Resolves host names to IP addresses, in threads, with a short cache."""

import asyncio
import socket
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

THREADS = 32
CACHE_SECONDS = 30.0
CACHE_SIZE = 4096


class HostResolver(Protocol):
    """Looks up host names."""

    async def look_up(self, host: str) -> Sequence[str]:
        """The addresses of a host; an OSError when there are none."""

    def close(self) -> None:
        """Ends what the look-ups need; closing twice is fine."""


class SystemResolver:
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
        if len(self._known) >= CACHE_SIZE:
            self._known.clear()
        self._known[host] = (time.monotonic() + CACHE_SECONDS, addresses)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def _ask_system(host: str) -> Sequence[str]:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(address_text(info[4]) for info in found))


def address_text(sockaddr: tuple[Any, ...]) -> str:
    """The address as text; one that is bound to an interface says so, and is refused for it."""
    scoped = len(sockaddr) == 4 and sockaddr[3]
    return f"{sockaddr[0].partition('%')[0]}%{sockaddr[3]}" if scoped else str(sockaddr[0])
