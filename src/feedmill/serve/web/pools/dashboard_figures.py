"""The figures of the pools dashboard: fill level, usage rate, errors."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Self

from markupsafe import Markup

from feedmill.errors import UnknownGroup
from feedmill.model.pool import (
    Guarantee,
    NewestPoolText,
    PoolAccess,
    PoolFailure,
    PoolGroup,
    PoolKind,
    PoolOptions,
    PoolStatus,
)
from feedmill.pools.service import PoolService

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
WIDTH = 1000


@dataclass(frozen=True, slots=True)
class PoolFigures:
    """One pool. `used` counts items by hour of the last day, oldest first. `has_lists`: there is a Redis."""

    kind: PoolKind
    options: PoolOptions
    status: PoolStatus
    used: tuple[int, ...]
    used_in_hour: int
    fallbacks: int
    duplicates: int
    last_failure: PoolFailure | None
    has_lists: bool
    newest_text: NewestPoolText | None = None

    @property
    def used_in_day(self) -> int:
        return sum(self.used)

    @property
    def is_listed(self) -> bool:
        """Whether items are handed out through a list; leases come straight from the database."""
        return self.has_lists and self.options.guarantee is Guarantee.AT_MOST_ONCE

    @property
    def is_down(self) -> bool:
        return self.is_listed and self.status.in_list is None

    @property
    def has_gauge(self) -> bool:
        """Whether its level is shown relative to the size of a list; without a list there is no maximum."""
        return self.is_listed and not self.is_down

    @property
    def level(self) -> int:
        """The number of items that can be taken now, from the list or without one from the database."""
        return self.status.in_list or 0 if self.has_gauge else self.status.counts.available

    @property
    def left(self) -> int:
        """The number of items in the database that are not in the list yet."""
        return self.status.counts.available

    @property
    def filler(self) -> str | None:
        """The process that fills the list now, without the unique part of the lock."""
        holder = self.status.filled_by
        return holder.rpartition("/")[0] or holder if holder else None

    @property
    def empty_in(self) -> timedelta | None:
        """How long the items last at the rate of the last hour; None if none was used."""
        ready = self.status.counts.available + self.status.counts.queued
        return ready / self.used_in_hour * HOUR if self.used_in_hour else None


@dataclass(frozen=True, slots=True)
class GroupFigures:
    group: PoolGroup
    pools: tuple[PoolFigures, ...]


@dataclass(frozen=True, slots=True)
class PoolDashboard:
    """All groups, as of `at`."""

    at: datetime
    groups: list[GroupFigures]

    def only(self, access: PoolAccess) -> Self:
        """The same with only the groups that the caller may take from."""
        return replace(self, groups=[each for each in self.groups if access.allows(each.group.id)])


async def read_dashboard(pools: PoolService) -> PoolDashboard:
    board = PoolDashboard(datetime.now(UTC), [])
    for group in await pools.groups():
        # A group that was deleted in the meantime is left out.
        with suppress(UnknownGroup):
            figures = [await _figures(pools, group, kind, board.at) for kind in PoolKind]
            board.groups.append(GroupFigures(group, tuple(figures)))
    return board


async def _figures(pools: PoolService, group: PoolGroup, kind: PoolKind, now: datetime) -> PoolFigures:
    minutes = await pools.used_lately(group.id, kind, now - DAY)
    return PoolFigures(
        kind=kind,
        options=group.options(kind),
        status=await pools.status(group.id, kind),
        used=by_hour(minutes, now),
        used_in_hour=sum(n for minute, n in minutes.items() if minute > now - HOUR),
        fallbacks=pools.fallbacks(group.id, kind),
        duplicates=pools.duplicates(group.id, kind),
        last_failure=pools.last_failure(group.id, kind),
        has_lists=pools.tools.lists is not None,
        newest_text=await pools.newest_text(group.id, kind),
    )


def by_hour(minutes: Mapping[datetime, int], now: datetime) -> tuple[int, ...]:
    """The number of items used in each of the last 24 hours, the oldest first."""
    hours = [0] * 24
    for minute, n in minutes.items():
        ago = min(23, max(0, int((now - minute) / HOUR)))
        hours[23 - ago] += n
    return tuple(hours)


def fill_gauge(pool: PoolFigures, title: str) -> Markup:
    """A bar of the fill level, with a line at which refilling begins."""
    size = pool.options.size
    full, mark = (round(WIDTH * min(1, n / size)) for n in (pool.level, pool.options.refill_below))
    kind = "low" if pool.level < pool.options.refill_below else "ok"
    return Markup(
        '<svg class="gauge" viewBox="0 0 {w} 16" preserveAspectRatio="none" role="img"><title>{title}</title>'
        '<rect class="ground" width="{w}" height="16"/><rect class="{kind}" width="{full}" height="16"/>'
        '<line class="mark" x1="{mark}" x2="{mark}" y1="0" y2="16"/></svg>'
    ).format(w=WIDTH, title=title, kind=kind, full=full, mark=mark)
