"""Lists the hosts that feeds come from, with the load of the last day."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from feedmill.coordination.host_slots import HostSlots
from feedmill.model.hosts import is_in_domains
from feedmill.outbound.host_pacing import paused_hosts
from feedmill.store.admin.blocked_hosts import blocked_host_names
from feedmill.store.admin.hosts import HostLoad, HostSummary, host_loads, hosts_page, read_host, throttled_until
from feedmill.store.database import Database

LATELY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class HostOverview:
    """A host with its load of the last day. `rests_until` is the end of its `Retry-After`."""

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


async def hosts_overview(db: Database, turns: HostSlots, after: str, most: int, now: datetime) -> list[HostOverview]:
    """A page of hosts, by name."""
    return await _seen(db, turns, await hosts_page(db, after, most), now)


async def host_overview(db: Database, turns: HostSlots, host: str, now: datetime) -> HostOverview | None:
    found = await read_host(db, host)
    return (await _seen(db, turns, [found], now))[0] if found else None


async def _seen(db: Database, turns: HostSlots, hosts: Sequence[HostSummary], now: datetime) -> list[HostOverview]:
    names = [host.host for host in hosts]
    loads, blocked = await host_loads(db, names, now - LATELY), await blocked_host_names(db)
    away = await throttled_until(db, names, now)
    paused = {host: now + left for host, left in (await paused_hosts(turns, names)).items()}
    rests = {host: max(away.get(host, paused[host]), paused[host]) for host in paused}
    return [_one(host, loads.get(host.host, HostLoad()), (away | rests).get(host.host), blocked) for host in hosts]


def _one(host: HostSummary, load: HostLoad, rests_until: datetime | None, blocked: frozenset[str]) -> HostOverview:
    return HostOverview(
        host.host,
        host.feeds,
        host.failing,
        host.last_fetched_at,
        host.next_fetch_at,
        load.requests,
        load.errors,
        load.bytes,
        rests_until,
        is_in_domains(host.host, blocked),
    )
