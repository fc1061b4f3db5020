"""Pools: groups with their rules and options, items and their states, leases, grants."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum
from typing import NamedTuple


class PoolKind(StrEnum):
    """Each group has a pool of either kind."""

    TITLES = "titles"
    CONTENTS = "contents"


class PoolItemState(IntEnum):
    """Where an item stands. Every change is written before anybody can see the item elsewhere."""

    USED = 0
    AVAILABLE = 1
    QUEUED = 2
    LEASED = 3
    DEAD = 4


class Guarantee(StrEnum):
    """`at_most_once`: never handed out twice, whatever crashes. `lease`: what is not acknowledged comes back."""

    AT_MOST_ONCE = "at_most_once"
    LEASE = "lease"


class ContentFormat(StrEnum):
    """What contents are handed on as: sanitised HTML, or the text that a person would read."""

    HTML = "html"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class PoolRule:
    """Which entries a group wants: all of its conditions must hold, and an empty one always does.

    `feeds` and `folders` together say where from; a folder is the operator's (`News/Tech`), with what lies below. Of
    `words` one must be there, of `without` none, in the title or the text. `min_length` counts the text's characters.
    `labels` are names of labels of the account `labels_of`; without an account nothing has them.
    """

    feeds: tuple[int, ...] = ()
    folders: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    language: str | None = None
    min_length: int = 0
    since: datetime | None = None
    labels_of: str | None = None


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """How one pool works. A text longer than `most_in_list` characters stands in the Redis list by reference."""

    guarantee: Guarantee = Guarantee.AT_MOST_ONCE
    size: int = 5000
    refill_below: int = 1000
    lease_seconds: int = 60
    most_attempts: int = 5
    form: ContentFormat = ContentFormat.HTML
    most_in_list: int = 100_000

    @property
    def lease(self) -> timedelta:
        return timedelta(seconds=self.lease_seconds)


class PoolKey(NamedTuple):
    """Which pool: that of a group, of a kind."""

    group_id: int
    kind: PoolKind

    @property
    def values(self) -> dict[str, int | str]:
        """The pool as the parameters of a statement."""
        return {"group": self.group_id, "pool_kind": self.kind}


@dataclass(frozen=True, slots=True)
class PoolGroup:
    """A named rule with its two pools. A paused one still collects, and hands out nothing."""

    id: int
    name: str
    rule: PoolRule
    created_at: datetime
    titles: PoolOptions = field(default_factory=PoolOptions)
    contents: PoolOptions = field(default_factory=PoolOptions)
    paused: bool = False

    def options(self, kind: PoolKind) -> PoolOptions:
        return self.titles if kind is PoolKind.TITLES else self.contents


def find_pool_group(groups: Sequence[PoolGroup], name: str | int) -> PoolGroup | None:
    """The group of that name or id; a name goes before an id."""
    by_name = (group for group in groups if group.name == name)
    by_id = (group for group in groups if str(group.id) == str(name))
    return next(by_name, None) or next(by_id, None)


@dataclass(frozen=True, slots=True)
class PoolAccess:
    """Which groups somebody may take from; None for all of them."""

    group_ids: frozenset[int] | None

    def allows(self, group_id: int) -> bool:
        return self.group_ids is None or group_id in self.group_ids


@dataclass(frozen=True, slots=True)
class PoolGrant:
    """Somebody who may take from a group."""

    user_id: int
    user_name: str
    granted_at: datetime


@dataclass(frozen=True, slots=True)
class PoolItem:
    """What a program is handed. `id` is the item's, not the entry's: it is what is settled."""

    id: int
    text: str


@dataclass(frozen=True, slots=True)
class PoolItemDetails:
    """An item without its text: how often it was taken, and by whom and when its state changed last."""

    id: int
    entry_id: int
    attempts: int
    changed_at: datetime
    taken_by: str | None


@dataclass(frozen=True, slots=True)
class PoolLease:
    """Items in somebody's hand until `until`; only `token` can settle them. `attempts` counts this one."""

    token: str
    until: datetime
    items: tuple[PoolItem, ...]
    attempts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PoolCounts:
    """How many items of a pool are in each state; together they are all there are."""

    available: int = 0
    queued: int = 0
    leased: int = 0
    used: int = 0
    dead: int = 0

    @property
    def total(self) -> int:
        return self.available + self.queued + self.leased + self.used + self.dead


@dataclass(frozen=True, slots=True)
class PoolStatus:
    """A pool at a glance. `in_list` is None when Redis is not used or does not answer."""

    counts: PoolCounts
    in_list: int | None
    filled_by: str | None


@dataclass(frozen=True, slots=True)
class PoolFailure:
    """What went wrong last with a pool, as the process that says so has seen it."""

    at: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class LostPoolItem:
    """Queued, and in no list: a crash took it, or a program that took it never said so."""

    id: int
    entry_id: int
    queued_at: datetime
    queued_by: str | None
