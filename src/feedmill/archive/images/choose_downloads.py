"""Chooses the waiting images to download together: a few of each host."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from feedmill.model.hosts import host_of

# As many of one host as it can serve one after another while the other hosts are served.
IMAGES_PER_HOST = 5
# The others are postponed in at most this many steps, each to about the time when it could be their turn.
MAX_DELAY_STEPS = 10


@dataclass(slots=True)
class DownloadSelection:
    """The tasks to take, and the tasks to postpone by the time until which they wait."""

    taken: list[int] = field(default_factory=list)
    postponed: dict[datetime, list[int]] = field(default_factory=dict)


def choose_downloads(
    waiting: Sequence[tuple[int, str]], limit: int, gap: timedelta, now: datetime
) -> DownloadSelection:
    """Chooses up to `limit` of the tasks, given as id and URL. Without a gap between requests none is postponed."""
    selection = DownloadSelection()
    for ids in group_by_host(waiting).values():
        share = IMAGES_PER_HOST if gap else len(ids)
        selection.taken += ids[: min(share, limit - len(selection.taken))]
        _postpone(ids[share:], gap, now, selection.postponed)
    return selection


def group_by_host(waiting: Sequence[tuple[int, str]]) -> Mapping[str, list[int]]:
    hosts: dict[str, list[int]] = {}
    for id, url in waiting:
        hosts.setdefault(host_of(url), []).append(id)
    return hosts


def _postpone(excess: Sequence[int], gap: timedelta, now: datetime, postponed: dict[datetime, list[int]]) -> None:
    step = max(IMAGES_PER_HOST, -(-len(excess) // MAX_DELAY_STEPS))
    for start in range(0, len(excess), step):
        postponed.setdefault(now + gap * (IMAGES_PER_HOST + start), []).extend(excess[start : start + step])
