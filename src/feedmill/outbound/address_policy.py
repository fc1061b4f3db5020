"""Which IP addresses and ports may be connected to (SSRF protection)."""

from collections.abc import Collection, Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Literal

from feedmill.errors import BadSetting

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
AddressVerdict = Literal["public", "allowed", "address", "port"]

# `is_global` is not enough: it passes 192.0.0.8, multicast, 64:ff9b::/96 and 2002::/16, among others.
SPECIAL_V4 = tuple(
    IPv4Network(cidr)
    for cidr in (
        "0.0.0.0/8",  # this network; Linux takes 0.0.0.0 for loopback
        "10.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT, and Alibaba's metadata service
        "127.0.0.0/8",
        "168.63.129.16/32",  # Azure's wire server: a public address that exists only inside Azure
        "169.254.0.0/16",  # link-local, and most metadata services
        "172.16.0.0/12",
        "192.0.0.0/24",  # protocol assignments, and Oracle's metadata service
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
GLOBAL_V6 = IPv6Network("2000::/3")
SPECIAL_V6 = tuple(
    IPv6Network(cidr)
    for cidr in (
        "2001::/23",  # protocol assignments; Teredo among them is judged by the embedded addresses
        "2001:db8::/32",  # documentation
        "3fff::/20",  # documentation
    )
)
NAT64 = IPv6Network("64:ff9b::/96")
COMPATIBLE = IPv6Network("::/96")
ISATAP = 0x00005EFE

WEB_PORTS = frozenset({80, 443})
FIRST_FREE_PORT = 1024
# Above 1023: ports that browsers refuse, and those of databases, queues and remote control.
DANGEROUS_PORTS = frozenset(
    {1433, 1521, 1719, 1720, 1723, 2049, 2181, 2375, 2376, 2379, 2380, 3306, 3389, 3659, 4045, 4190}
    | {5060, 5061, 5432, 5672, 5900, 5984, 5985, 5986, 6000, 6379, 6443, 6566, 6665, 6666, 6667, 6668, 6669}
    | {6679, 6697, 7000, 7001, 9042, 9092, 9200, 9300, 10080, 10250, 10255, 11211, 27017, 27018, 27019, 50000}
)


class AddressPolicy:
    """Allows public addresses, the private ones in the operator's list of networks (CIDR), and single servers."""

    def __init__(self, allow: Iterable[str | Network] = (), servers: Collection[tuple[str, int]] = ()) -> None:
        self._allow = tuple(_network(cidr) for cidr in allow)
        self._servers = frozenset(servers)
        self._cached_verdict = lru_cache(maxsize=4096)(self._judge)

    def verdict(self, address: str, port: int) -> AddressVerdict:
        """`public` and `allowed` may be connected to; `address` and `port` say what is forbidden."""
        return self._cached_verdict(address, port)

    def _judge(self, address: str, port: int) -> AddressVerdict:
        if (address, port) in self._servers:
            return "allowed"
        try:
            parsed = ip_address(address)
        except ValueError:
            return "address"
        if isinstance(parsed, IPv6Address) and parsed.scope_id is not None:
            return "address"
        reached = _unwrap(parsed)
        special = [inner for inner in reached if _is_special(inner)]
        if special:
            is_allowed = self._is_listed(parsed) or all(self._is_listed(inner) for inner in special)
            return "allowed" if is_allowed else "address"
        return "public" if is_web_port(port) else "port"

    def _is_listed(self, address: Address) -> bool:
        return any(address in network for network in self._allow)


def is_web_port(port: int) -> bool:
    """Whether a web server may be at this port, and no other service that takes commands."""
    return port in WEB_PORTS or (FIRST_FREE_PORT <= port <= 65535 and port not in DANGEROUS_PORTS)


def _network(cidr: str | Network) -> Network:
    try:
        return ip_network(str(cidr).strip(), strict=False)
    except ValueError as error:
        raise BadSetting(f"{str(cidr)!r} among the allowed private addresses is not a network") from error


def _unwrap(address: Address) -> tuple[Address, ...]:
    """The addresses that a packet to this one reaches: itself, or the IPv4 addresses embedded in it."""
    if isinstance(address, IPv4Address):
        return (address,)
    if address.ipv4_mapped is not None:
        return (address.ipv4_mapped,)
    if address.sixtofour is not None:
        return (address.sixtofour,)
    if address.teredo is not None:
        return address.teredo
    number = int(address)
    if address in NAT64 or (address in COMPATIBLE and number > 0xFFFF):
        return (IPv4Address(number & 0xFFFFFFFF),)
    if (number >> 32) & 0xFCFFFFFF == ISATAP:
        return (address, IPv4Address(number & 0xFFFFFFFF))
    return (address,)


def _is_special(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return any(address in network for network in SPECIAL_V4)
    return address not in GLOBAL_V6 or any(address in network for network in SPECIAL_V6)
