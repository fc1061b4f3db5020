"""Connects to that of several PostgreSQL hosts that takes writes: after a failover the new primary."""

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
                return connection
        raise _most_telling(failures)

    def _order(self) -> list[int]:
        count = len(self._urls)
        return [(self._first + number) % count for number in range(count)]


def urls_of_hosts(url: str) -> list[str]:
    """A URL for each of the hosts."""
    parts = urlsplit(url)
    login, at, hosts = parts.netloc.rpartition("@")
    return [parts._replace(netloc=f"{login}{at}{host}").geturl() for host in hosts.split(",")]


def _most_telling(failures: list[Exception]) -> Exception:
    """That a standby answered, else why the first host did not."""
    standby = (error for error in failures if isinstance(error, asyncpg.TargetServerAttributeNotMatched))
    return next(standby, failures[0])
