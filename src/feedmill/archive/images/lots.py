"""Chooses which waiting images to download together: a few of each host."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from urllib.parse import urlsplit

# Of one host in one lot: what it can serve, one after another, while the others take their time.
IMAGES_PER_HOST = 5
# Those beyond are spread over as many moments, each about when their turn could come.
MAX_DELAY_STEPS = 10


@dataclass(slots=True)
class ImageLot:
    """The tasks to take, and those of crowded hosts by the moment until which they wait."""

    taken: list[int] = field(default_factory=list)
    later: dict[datetime, list[int]] = field(default_factory=dict)


def choose_lot(waiting: Sequence[tuple[int, str]], most: int, gap: timedelta, now: datetime) -> ImageLot:
    """Chooses up to `most` of the tasks, given as id and address; without a gap there is no crowd."""
    lot = ImageLot()
    for ids in group_by_host(waiting).values():
        share = IMAGES_PER_HOST if gap else len(ids)
        lot.taken += ids[: min(share, most - len(lot.taken))]
        _spread(ids[share:], gap, now, lot.later)
    return lot


def group_by_host(waiting: Sequence[tuple[int, str]]) -> Mapping[str, list[int]]:
    hosts: dict[str, list[int]] = {}
    for id, url in waiting:
        hosts.setdefault(host_of_url(url), []).append(id)
    return hosts


def host_of_url(url: str) -> str:
    """The host that an address names; empty for an address that names none."""
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


def _spread(crowd: Sequence[int], gap: timedelta, now: datetime, later: dict[datetime, list[int]]) -> None:
    step = max(IMAGES_PER_HOST, -(-len(crowd) // MAX_DELAY_STEPS))
    for start in range(0, len(crowd), step):
        later.setdefault(now + gap * (IMAGES_PER_HOST + start), []).extend(crowd[start : start + step])
