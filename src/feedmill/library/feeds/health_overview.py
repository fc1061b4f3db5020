"""Finds the feeds of a user that need attention: broken, idle, slow, heavy or duplicate."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from feedmill.i18n.natural_order import NaturalKey, natural_key
from feedmill.model.hosts import host_of
from feedmill.model.subscription import Subscription
from feedmill.model.timestamps import from_iso
from feedmill.store.database import Database
from feedmill.store.feeds.fetch_totals import FetchLoad, fetch_loads_of_user
from feedmill.store.subscriptions.read_subscriptions import subscriptions_of

BROKEN = ("gone", "stopped", "broken", "failing")
# Without an entry for three times its rhythm, at least a week; without a rhythm, three months.
SILENT_RHYTHMS = 3
SHORTEST_SILENCE = timedelta(days=7)
UNKNOWN_RHYTHM = timedelta(days=30)
LATELY = timedelta(days=2)
SLOW_MS = 5_000
HEAVY_A_MONTH = 50_000_000
MONTH = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class NotedFeed:
    """A feed and its figure: milliseconds per fetch, bytes per month, or days without an entry."""

    feed: Subscription
    figure: float = 0


@dataclass(frozen=True, slots=True)
class HealthOverview:
    total: int
    broken: Sequence[Subscription]
    idle: Sequence[NotedFeed]
    slow: Sequence[NotedFeed]
    heavy: Sequence[NotedFeed]
    duplicates: Sequence[Sequence[Subscription]]

    @property
    def is_well(self) -> bool:
        return not (self.broken or self.idle or self.slow or self.heavy or self.duplicates)


async def health_overview(db: Database, user_id: int, now: datetime) -> HealthOverview:
    """The feeds of the user that need attention, by kind of problem, the worst first."""
    subscriptions = await subscriptions_of(db, user_id)
    loads = await fetch_loads_of_user(db, user_id, now - LATELY)
    return HealthOverview(
        total=len(subscriptions),
        broken=sorted((each for each in subscriptions if each.state in BROKEN), key=_urgency),
        idle=_largest(_idle(subscriptions, loads, now)),
        slow=_largest(noted for noted in _usual_ms(subscriptions, loads) if noted.figure >= SLOW_MS),
        heavy=_largest(noted for noted in _monthly_bytes(subscriptions, loads) if noted.figure >= HEAVY_A_MONTH),
        duplicates=duplicates(subscriptions),
    )


def _urgency(each: Subscription) -> tuple[int, int, NaturalKey]:
    return (BROKEN.index(each.state), -each.consecutive_failures, natural_key(each.title))


def _largest(noted: Iterable[NotedFeed]) -> list[NotedFeed]:
    return sorted(noted, key=lambda each: (-each.figure, natural_key(each.feed.title)))


def _idle(subscriptions: Sequence[Subscription], loads: Mapping[int, FetchLoad], now: datetime) -> Iterable[NotedFeed]:
    silent = (each for each in subscriptions if _is_idle(each, loads[each.feed_id], now))
    return (NotedFeed(each, _silence(each, now) / timedelta(days=1)) for each in silent)


def _is_idle(each: Subscription, load: FetchLoad, now: datetime) -> bool:
    """Only for feeds that are fetched successfully: a broken feed has no new entries anyway."""
    if each.state != "healthy":
        return False
    rhythm = UNKNOWN_RHYTHM if load.usual_gap_seconds is None else timedelta(seconds=load.usual_gap_seconds)
    return _silence(each, now) > max(rhythm * SILENT_RHYTHMS, SHORTEST_SILENCE)


def _silence(each: Subscription, now: datetime) -> timedelta:
    return now - from_iso(each.last_entry_at or each.created_at)


def _usual_ms(subscriptions: Sequence[Subscription], loads: Mapping[int, FetchLoad]) -> Iterable[NotedFeed]:
    return (NotedFeed(each, loads[each.feed_id].usual_ms) for each in subscriptions)


def _monthly_bytes(subscriptions: Sequence[Subscription], loads: Mapping[int, FetchLoad]) -> Iterable[NotedFeed]:
    return (NotedFeed(each, loads[each.feed_id].bytes * (MONTH / LATELY)) for each in subscriptions)


def duplicates(subscriptions: Sequence[Subscription]) -> list[list[Subscription]]:
    """Probable duplicates: URLs that differ only in scheme, `www.` or slash, or the same site and title."""
    groups: dict[tuple[str, ...], list[Subscription]] = {}
    for each in subscriptions:
        for mark in _marks(each):
            groups.setdefault(mark, []).append(each)
    found = {tuple(each.id for each in group): group for group in groups.values() if len(group) > 1}
    return list(found.values())


def _marks(each: Subscription) -> Iterable[tuple[str, ...]]:
    yield ("at", _plain(each.url))
    if each.feed_title and each.site_url:
        yield ("of", each.feed_title.casefold(), _plain(each.site_url))


def _plain(url: str) -> str:
    """The URL without its scheme, `www.` and trailing slash."""
    try:
        parts = urlsplit(url)
        host = host_of(url).removeprefix("www.")
        return f"{host}:{parts.port or ''}{parts.path.rstrip('/')}?{parts.query}"
    except ValueError:
        return url
