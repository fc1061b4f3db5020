"""Resolver, sockets and responses for aiohttp: connects only to checked addresses, repeats no request by itself."""

import socket
from datetime import UTC, datetime
from ssl import SSLObject, cert_time_to_seconds
from typing import Any, ClassVar
from weakref import WeakSet

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.connector import Connection

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


def certificate_expiry(response: aiohttp.ClientResponse) -> datetime | None:
    """When the server's certificate expires; None without one, or if it was not checked."""
    tls = response.tls if isinstance(response, SingleRequestResponse) else None
    certificate = tls.getpeercert() if tls else None
    if not certificate:
        return None
    return datetime.fromtimestamp(cert_time_to_seconds(str(certificate["notAfter"])), UTC)


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


class ConnectionDropped(aiohttp.ClientError):
    """The server closed the connection without a response."""


class IdleConnectionClosed(aiohttp.ServerDisconnectedError):
    """The server closed a kept-alive connection, perhaps before it read the request."""


class SingleRequestResponse(aiohttp.ClientResponse):
    """Keeps aiohttp from repeating a request whose connection was closed: a second request needs its own turn.

    After `IdleConnectionClosed` aiohttp does repeat a GET, within the same turn, but no POST.
    """

    _used_protocols: ClassVar[WeakSet[object]] = WeakSet()
    tls: SSLObject | None = None

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        protocol = connection.protocol
        # Read here, because a short response has released its connection before anybody can look at it.
        self.tls = connection.transport.get_extra_info("ssl_object") if connection.transport else None
        try:
            started = await super().start(connection)
        except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
            if protocol in self._used_protocols:
                raise IdleConnectionClosed(str(error)) from error
            raise ConnectionDropped(str(error)) from error
        self._used_protocols.add(protocol)
        return started
