"""Resolver and sockets for aiohttp that connect only to checked addresses."""

import socket
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult

from feedmill.outbound.address_policy import AddressPolicy
from feedmill.outbound.dns import HostResolver, address_text


class AiohttpResolver(AbstractResolver):
    """Lets aiohttp resolve hosts with our resolver."""

    def __init__(self, resolver: HostResolver) -> None:
        self._resolver = resolver

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        return [_resolved(host, address, port) for address in await self._resolver.resolve(host)]

    async def close(self) -> None:
        """Leaves the resolver open: it belongs to the client."""


def _resolved(host: str, address: str, port: int) -> ResolveResult:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
    return ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=flags)


class CheckedSocketFactory:
    """Opens sockets for aiohttp, to allowed addresses only.

    It checks the address that connect() gets, so a second answer of a name server can't change it.
    """

    def __init__(self, policy: AddressPolicy) -> None:
        self._policy = policy

    def __call__(self, info: tuple[Any, ...]) -> socket.socket:
        family, kind, protocol, _, sockaddr = info
        if self._policy.verdict(address_text(sockaddr), sockaddr[1]) not in ("public", "allowed"):
            raise OSError(f"{sockaddr[0]} port {sockaddr[1]} may not be connected to")
        return socket.socket(family, kind, protocol)
