"""The hosts that feeds come from, as an admin sees them: how often they are asked, and what they want."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from feedmill.coordination.turns import Turns
from feedmill.model.hosts import is_under
from feedmill.outbound.pacing import paused_hosts
from feedmill.store.backlog import Host, hosts_page, read_host
from feedmill.store.blocked_hosts import blocked_names
from feedmill.store.database import Database
from feedmill.store.host_figures import HostLoad, host_loads, turned_away

LATELY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class HostSeen:
    """A host with its load of the last day. `rests_until`: its server asked for a rest (Retry-After) until then."""

    host: str
    feeds: int
    failing: int
    last_fetched_at: datetime | None
    next_fetch_at: datetime | None
    requests: int
    errors: int
    bytes: int
    rests_until: datetime | None
    blocked: bool

    @property
    def per_hour(self) -> float:
        return self.requests / (LATELY / timedelta(hours=1))


async def see_hosts(db: Database, turns: Turns, after: str, most: int, now: datetime) -> list[HostSeen]:
    """A page of hosts, by name."""
    return await _seen(db, turns, await hosts_page(db, after, most), now)


async def see_host(db: Database, turns: Turns, host: str, now: datetime) -> HostSeen | None:
    found = await read_host(db, host)
    return (await _seen(db, turns, [found], now))[0] if found else None


async def _seen(db: Database, turns: Turns, hosts: Sequence[Host], now: datetime) -> list[HostSeen]:
    names = [host.host for host in hosts]
    loads, blocked = await host_loads(db, names, now - LATELY), await blocked_names(db)
    away = await turned_away(db, names, now)
    paused = {host: now + left for host, left in (await paused_hosts(turns, names)).items()}
    rests = {host: max(away.get(host, paused[host]), paused[host]) for host in paused}
    return [_one(host, loads.get(host.host, HostLoad()), (away | rests).get(host.host), blocked) for host in hosts]


def _one(host: Host, load: HostLoad, rests_until: datetime | None, blocked: frozenset[str]) -> HostSeen:
    return HostSeen(
        host.host, host.feeds, host.failing, host.last_fetched_at, host.next_fetch_at, load.requests, load.errors,
        load.bytes, rests_until, is_under(host.host, blocked),
    )  # fmt: skip
