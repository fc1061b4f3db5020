"""aiohttp's resolver, sockets and responses: connects only to checked addresses, repeats no request by itself."""

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
    """Gives aiohttp the addresses that our own names have for a host."""

    def __init__(self, names: HostResolver) -> None:
        self._names = names

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        return [_resolved(host, address, port) for address in await self._names.look_up(host)]

    async def close(self) -> None:
        """Nothing to close: the names belong to whoever made them."""


def _resolved(host: str, address: str, port: int) -> ResolveResult:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
    return ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=flags)


def certificate_expiry(response: aiohttp.ClientResponse) -> datetime | None:
    """When the certificate that the server showed ends; None without one, or when nobody checked it."""
    secured = response.secured if isinstance(response, SingleRequestResponse) else None
    shown = secured.getpeercert() if secured else None
    return datetime.fromtimestamp(cert_time_to_seconds(str(shown["notAfter"])), UTC) if shown else None


class CheckedSocketFactory:
    """Opens sockets for aiohttp. The address checked is the one that connect() gets, so no answer of a
    name server can come between."""

    def __init__(self, policy: AddressPolicy) -> None:
        self._policy = policy

    def __call__(self, info: tuple[Any, ...]) -> socket.socket:
        family, kind, protocol, _, sockaddr = info
        if self._policy.verdict(address_text(sockaddr), sockaddr[1]) not in ("public", "allowed"):
            raise OSError(f"{sockaddr[0]} port {sockaddr[1]} may not be connected to")
        return socket.socket(family, kind, protocol)


class ConnectionDropped(aiohttp.ClientError):
    """The server closed the connection without an answer."""


class IdleConnectionClosed(aiohttp.ServerDisconnectedError):
    """The server closed a connection that was kept open after an earlier answer, perhaps before it saw the request."""


class SingleRequestResponse(aiohttp.ClientResponse):
    """Keeps aiohttp from asking a server again that hung up: a second request needs a turn of its own.

    After `IdleConnectionClosed` aiohttp does send a GET again, within the same turn; a POST it does not.
    """

    _have_answered: ClassVar[WeakSet[object]] = WeakSet()
    secured: SSLObject | None = None

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        protocol = connection.protocol
        # Now, because a short answer has left its connection by the time that anybody looks at it.
        self.secured = connection.transport.get_extra_info("ssl_object") if connection.transport else None
        try:
            started = await super().start(connection)
        except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
            if protocol in self._have_answered:
                raise IdleConnectionClosed(str(error)) from error
            raise ConnectionDropped(str(error)) from error
        self._have_answered.add(protocol)
        return started
