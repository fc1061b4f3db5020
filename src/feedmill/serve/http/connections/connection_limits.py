"""Limits the number of open client connections, in total and per address."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Protocol

from feedmill.lazy_loggers import get_logger
from feedmill.settings import Network

log = get_logger(__name__)

# An IPv6 client usually controls a whole /64 network.
IPV6_PREFIX = 64
LOG_EVERY_SECONDS = 60.0
# What all connections together may hold in memory for clients that read slowly: thirteen of the largest responses.
MAX_UNSENT_BYTES = 200_000_000
# How connections end that browsers open in advance, or keep open.
ORDINARY_REASONS = frozenset({"idle", "no_request"})


class ClientConnection(Protocol):
    """The methods of a connection that the registry calls."""

    peer: "Peer"

    def close_idle(self) -> None:
        """Closes it for a new connection; only called while it has no request."""

    def check_deadlines(self, now: float) -> None:
        """Closes it if its client has been too slow."""

    def unsent_bytes(self) -> int:
        """How much of its responses waits in our memory for the client to read it."""

    def drop_unsent(self) -> None:
        """Closes it and frees what is unsent."""


@dataclass(slots=True, eq=False)
class Peer:
    """An address (or IPv6 network) with its connections; `idle` are those without a request, oldest first."""

    key: str
    most: int | None
    open: set[ClientConnection] = field(default_factory=set)
    idle: dict[ClientConnection, None] = field(default_factory=dict)


class ConnectionRegistry:
    """Every open connection, at most `most` in total and `most_per_address` from one address.

    At a limit, the connection that has been idle longest is closed. The new connection is refused only if all have a
    request. Addresses in `proxies` have no limit of their own, because many clients are behind them.
    """

    def __init__(self, most: int, most_per_address: int, proxies: Collection[Network] = ()) -> None:
        self.dropped: Counter[str] = Counter()
        self._most, self._most_per_address, self._proxies = most, most_per_address, proxies
        self._open: set[ClientConnection] = set()
        self._idle: dict[ClientConnection, None] = {}
        self._refused: set[ClientConnection] = set()
        self._peers: dict[str, Peer] = {}
        self._logged_at = float("-inf")
        self._unlogged: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._open)

    @property
    def idle(self) -> int:
        """How many connections have no request."""
        return len(self._idle)

    @property
    def addresses(self) -> int:
        """How many addresses the connections come from."""
        return len(self._peers)

    @property
    def refused(self) -> int:
        """How many connections are being refused."""
        return len(self._refused)

    def admit(self, connection: ClientConnection, host: str) -> bool:
        """Admits a new connection, which has no request yet; False at a limit."""
        peer = self._peer(host)
        is_full_for_peer = peer.most is not None and len(peer.open) >= peer.most
        if is_full_for_peer and not self._close_oldest(peer.idle):
            return False
        if len(self._open) >= self._most and not self._close_oldest(self._idle):
            return False
        connection.peer = self._peers.setdefault(peer.key, peer)
        connection.peer.open.add(connection)
        self._open.add(connection)
        self.set_idle(connection)
        return True

    def add_refused(self, connection: ClientConnection) -> None:
        """Tracks a connection that was not admitted until it is closed."""
        self._refused.add(connection)

    def set_idle(self, connection: ClientConnection) -> None:
        """Records that the connection has no request now."""
        if connection in self._open:
            self._idle[connection] = connection.peer.idle[connection] = None

    def set_busy(self, connection: ClientConnection) -> None:
        """Records that the connection has a request now, so that it is not closed for a new one."""
        if connection in self._idle:
            del self._idle[connection], connection.peer.idle[connection]

    def is_idle(self, connection: ClientConnection) -> bool:
        return connection in self._idle

    def remove(self, connection: ClientConnection) -> None:
        """Removes a connection that is closed or closing."""
        self._refused.discard(connection)
        if connection not in self._open:
            return
        self.set_busy(connection)
        self._open.remove(connection)
        peer = connection.peer
        peer.open.discard(connection)
        if not peer.open:
            self._peers.pop(peer.key, None)

    def check_deadlines(self, now: float) -> None:
        """Closes connections whose clients are too slow; called about every second."""
        for connection in [*self._open, *self._refused]:
            connection.check_deadlines(now)
        self._limit_unsent()
        self._log_dropped(now)

    def count_dropped(self, reason: str) -> None:
        self.dropped[reason] += 1
        if reason not in ORDINARY_REASONS:
            self._unlogged[reason] += 1

    def _limit_unsent(self) -> None:
        """Drops the largest unsent responses of the address that has the most, until the rest is within the limit."""
        unsent = {connection: size for connection in self._open if (size := connection.unsent_bytes())}
        excess = sum(unsent.values()) - MAX_UNSENT_BYTES
        if excess <= 0:
            return
        of_peer: Counter[str] = Counter()
        for connection, size in unsent.items():
            of_peer[connection.peer.key] += size
        for connection in sorted(unsent, key=lambda each: (of_peer[each.peer.key], unsent[each]), reverse=True):
            excess -= unsent[connection]
            connection.drop_unsent()
            if excess <= 0:
                return

    def _close_oldest(self, idle: dict[ClientConnection, None]) -> bool:
        oldest = next(iter(idle), None)
        if oldest is None:
            return False
        self.remove(oldest)
        self.count_dropped("idle_for_new")
        oldest.close_idle()
        return True

    def _peer(self, host: str) -> Peer:
        key, address = peer_key(host)
        known = self._peers.get(key)
        if known is not None:
            return known
        is_proxy = address is None or any(address in network for network in self._proxies)
        return Peer(key, None if is_proxy else self._most_per_address)

    def _log_dropped(self, now: float) -> None:
        """Logs at most one line a minute, so that an attack does not fill the log."""
        if self._unlogged and now - self._logged_at >= LOG_EVERY_SECONDS:
            log.warning("connections_dropped", open=len(self._open), **self._unlogged)
            self._logged_at = now
            self._unlogged.clear()


def peer_key(host: str) -> tuple[str, IPv4Address | IPv6Address | None]:
    """The key of a client: its IPv4 address, or the /64 network of its IPv6 address."""
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:  # a Unix socket has no address
        return host, None
    if isinstance(address, IPv4Address):
        return host, address
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped), address.ipv4_mapped
    return str(ip_network((address, IPV6_PREFIX), strict=False)), address
