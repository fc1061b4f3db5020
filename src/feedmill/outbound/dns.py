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
    """PORT: resolves host names."""

    async def resolve(self, host: str) -> Sequence[str]:
        """The addresses of a host; raises `OSError` if there are none."""

    def close(self) -> None:
        """Frees the threads; may be called twice."""


class SystemResolver:
    """The system's resolver, in threads of its own: a name server that hangs must not delay other work."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="names")
        self._cached: dict[str, tuple[float, Sequence[str]]] = {}

    async def resolve(self, host: str) -> Sequence[str]:
        until, addresses = self._cached.get(host, (0.0, ()))
        if until > time.monotonic():
            return addresses
        loop = asyncio.get_running_loop()
        addresses = await loop.run_in_executor(self._threads, _resolve_by_system, host)
        self._cache(host, addresses)
        return addresses

    def _cache(self, host: str, addresses: Sequence[str]) -> None:
        if len(self._cached) >= CACHE_SIZE:
            self._cached.clear()
        self._cached[host] = (time.monotonic() + CACHE_SECONDS, addresses)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def _resolve_by_system(host: str) -> Sequence[str]:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(address_text(info[4]) for info in found))


def address_text(sockaddr: tuple[Any, ...]) -> str:
    """The address as text. One with a scope (an interface) keeps it, and is refused because of it."""
    scoped = len(sockaddr) == 4 and sockaddr[3]
    return f"{sockaddr[0].partition('%')[0]}%{sockaddr[3]}" if scoped else str(sockaddr[0])
