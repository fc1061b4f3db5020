"""Connects to that of several PostgreSQL hosts that takes writes: after a failover the new primary."""

import socket
from typing import Any
from urllib.parse import parse_qs, urlsplit

import asyncpg

# The next host may answer. A refused login is not among them: every host has the same users.
TRY_NEXT_HOST = (
    OSError,
    asyncpg.CannotConnectNowError,
    asyncpg.PostgresConnectionError,
    asyncpg.TargetServerAttributeNotMatched,
)

# A machine that disappears, or a network that does, closes no connection. The kernel asks one that is idle after 10 s
# and ends it when nothing comes back for 15 s; so it does if what was sent is not received. Without this the next
# statement on each connection would wait for its time limit. Not every system has all of them.
SIGNS_OF_LIFE = {
    "TCP_KEEPIDLE": 10,
    "TCP_KEEPINTVL": 5,
    "TCP_KEEPCNT": 3,
    "TCP_USER_TIMEOUT": 15_000,
}


class PostgresHosts:
    """The hosts of a URL such as `postgresql://one,two/feedmill`, tried in turn.

    Each has the whole time limit of a connection, so that a machine that has disappeared does not use up that of the
    others. The host that was connected last is tried first.
    """

    def __init__(self, url: str) -> None:
        self._urls = urls_of_hosts(url)
        self._first = 0
        has_target = "target_session_attrs" in parse_qs(urlsplit(url).query)
        # A standby refuses every write.
        self._target = {} if has_target or len(self._urls) == 1 else {"target_session_attrs": "read-write"}

    async def connect(self, _: str, **options: Any) -> Any:
        """Connects as `asyncpg.connect` does, for a pool."""
        failures: list[Exception] = []
        for number in self._order():
            try:
                connection = await asyncpg.connect(self._urls[number], **self._target, **options)
            except TRY_NEXT_HOST as error:
                failures.append(error)
            else:
                self._first = number
                _expect_signs_of_life(connection)
                return connection
        raise _most_telling(failures)

    def _order(self) -> list[int]:
        count = len(self._urls)
        return [(self._first + number) % count for number in range(count)]


def _expect_signs_of_life(connection: Any) -> None:
    # asyncpg has no option for it and no public way to the socket.
    connected = connection._transport.get_extra_info("socket")
    if connected.family not in (socket.AF_INET, socket.AF_INET6):
        return
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in SIGNS_OF_LIFE.items():
        if hasattr(socket, name):
            connected.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def urls_of_hosts(url: str) -> list[str]:
    """A URL for each of the hosts."""
    parts = urlsplit(url)
    login, at, hosts = parts.netloc.rpartition("@")
    return [parts._replace(netloc=f"{login}{at}{host}").geturl() for host in hosts.split(",")]


def _most_telling(failures: list[Exception]) -> Exception:
    """That a standby answered, else why the first host did not."""
    standby = (error for error in failures if isinstance(error, asyncpg.TargetServerAttributeNotMatched))
    return next(standby, failures[0])
