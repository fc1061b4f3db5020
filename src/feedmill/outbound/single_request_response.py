"""A response of aiohttp that keeps it from repeating a request by itself, and the certificate of its connection."""

from datetime import UTC, datetime
from ssl import SSLObject, cert_time_to_seconds
from typing import ClassVar
from weakref import WeakSet

import aiohttp
from aiohttp.connector import Connection


def certificate_expiry(response: aiohttp.ClientResponse) -> datetime | None:
    """When the server's certificate expires; None without one, or if it was not checked."""
    tls = response.tls if isinstance(response, SingleRequestResponse) else None
    certificate = tls.getpeercert() if tls else None
    if not certificate:
        return None
    return datetime.fromtimestamp(cert_time_to_seconds(str(certificate["notAfter"])), UTC)


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
