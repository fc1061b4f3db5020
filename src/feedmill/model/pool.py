"""Pools: groups with their rules and options, items and their states, leases, grants."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum
from typing import NamedTuple

from feedmill.i18n.messages import Message


class PoolKind(StrEnum):
    """Each group has one pool of each kind."""

    TITLES = "titles"
    CONTENTS = "contents"


class PoolItemState(IntEnum):
    """The state of an item. A change is stored before the item becomes visible elsewhere."""

    USED = 0
    AVAILABLE = 1
    QUEUED = 2
    LEASED = 3
    DEAD = 4
    HELD = 5


class Guarantee(StrEnum):
    """`at_most_once`: never handed out twice, whatever crashes. `lease`: unacknowledged items are handed out again."""

    AT_MOST_ONCE = "at_most_once"
    LEASE = "lease"


class OnLoss(StrEnum):
    """What becomes of items that may have been used: `hold` them until a person decides, or `release` them later."""

    HOLD = "hold"
    RELEASE = "release"


class PoolRight(StrEnum):
    """What a user may do with a group, besides admins, who may do everything."""

    TAKE = "take"
    FILL = "fill"


class ContentFormat(StrEnum):
    """The format of contents: sanitized HTML, or plain text."""

    HTML = "html"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class PoolRule:
    """Which entries belong to a group: all conditions must hold, and an empty one always does.

    `feeds` and `folders` are alternatives; a folder is the operator's (`News/Tech`), and includes its subfolders. The
    title or text must contain one of `words`, and none of `without`. `min_length` is in characters of the text.
    `labels` are names of labels of the account `labels_of`; without an account no entry matches. With `no_entries` none
    matches: the group has only texts of other programs.
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
    no_entries: bool = False


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """Options of one pool. A text longer than `most_in_list` characters is in the Redis list as a reference.

    `source_table` is a table or view of the database whose rows join the pool; empty for none.
    """

    guarantee: Guarantee = Guarantee.AT_MOST_ONCE
    size: int = 5000
    refill_below: int = 1000
    lease_seconds: int = 60
    most_attempts: int = 5
    form: ContentFormat = ContentFormat.HTML
    most_in_list: int = 100_000
    source_table: str = ""

    @property
    def lease(self) -> timedelta:
        return timedelta(seconds=self.lease_seconds)


@dataclass(frozen=True, slots=True)
class LossPolicy:
    """What happens to items that a crash leaves in doubt.

    `others_rpop` says that programs take from the Redis lists with RPOP; without it this is noticed within seconds.
    """

    on_loss: OnLoss = OnLoss.HOLD
    release_after_seconds: int = 600
    others_rpop: bool = False

    @property
    def release_after(self) -> timedelta:
        return timedelta(seconds=self.release_after_seconds)


class PoolKey(NamedTuple):
    """Identifies a pool by group and kind."""

    group_id: int
    kind: PoolKind

    @property
    def values(self) -> dict[str, int | str]:
        """The parameters of a statement about this pool."""
        return {"group": self.group_id, "pool_kind": self.kind}


@dataclass(frozen=True, slots=True)
class PoolGroup:
    """A named rule with its two pools. A paused group still collects entries, but hands out nothing."""

    id: int
    name: str
    rule: PoolRule
    created_at: datetime
    titles: PoolOptions = field(default_factory=PoolOptions)
    contents: PoolOptions = field(default_factory=PoolOptions)
    paused: bool = False
    loss: LossPolicy = field(default_factory=LossPolicy)

    def options(self, kind: PoolKind) -> PoolOptions:
        return self.titles if kind is PoolKind.TITLES else self.contents


def find_pool_group(groups: Sequence[PoolGroup], name: str | int) -> PoolGroup | None:
    """The group with that name or id; a name takes precedence."""
    by_name = (group for group in groups if group.name == name)
    by_id = (group for group in groups if str(group.id) == str(name))
    return next(by_name, None) or next(by_id, None)


@dataclass(frozen=True, slots=True)
class PoolAccess:
    """The groups that a user has a right for; None for all."""

    group_ids: frozenset[int] | None

    def allows(self, group_id: int) -> bool:
        return self.group_ids is None or group_id in self.group_ids


@dataclass(frozen=True, slots=True)
class PoolGrant:
    """The right of a user to take from a group, or to put texts into it."""

    user_id: int
    user_name: str
    granted_at: datetime
    right: PoolRight = PoolRight.TAKE


@dataclass(frozen=True, slots=True)
class PoolText:
    """A text that a program puts into a pool; `external_id` is the sender's, and the same one is stored once."""

    external_id: str
    text: str
    batch_id: int


@dataclass(frozen=True, slots=True)
class NewestPoolText:
    """By whom and when a text was last added to a pool."""

    source: str
    added_at: datetime


@dataclass(frozen=True, slots=True)
class AddedTexts:
    """How many texts were new, and how many were there already."""

    added: int
    known: int


@dataclass(frozen=True, slots=True)
class PoolItem:
    """An item for a program. `id` is the item's, not the entry's; it is used to acknowledge the item."""

    id: int
    text: str


@dataclass(frozen=True, slots=True)
class PoolItemDetails:
    """An item without its text: how often it was taken, and by whom and when its state changed last.

    It has the id of its entry, or the sender's id of its text.
    """

    id: int
    entry_id: int | None
    external_id: str | None
    attempts: int
    changed_at: datetime
    taken_by: str | None


@dataclass(frozen=True, slots=True)
class PoolLease:
    """Items leased until `until`; only `token` can acknowledge them. `attempts` includes this one."""

    token: str
    until: datetime
    items: tuple[PoolItem, ...]
    attempts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PoolCounts:
    """How many items of a pool are in each state."""

    available: int = 0
    queued: int = 0
    leased: int = 0
    used: int = 0
    dead: int = 0
    held: int = 0

    @property
    def total(self) -> int:
        return self.available + self.queued + self.leased + self.used + self.dead + self.held


@dataclass(frozen=True, slots=True)
class PoolStatus:
    """The counts of a pool. `in_list` is None when Redis is not used or does not answer.

    `is_list_lost`: Redis has lost the list, and the items in it were not recovered yet. `rpop_seen_at` is when a
    program was last seen to take from the list with RPOP. `source_problem` says why the source table can't be read.
    """

    counts: PoolCounts
    in_list: int | None = None
    filled_by: str | None = None
    is_list_lost: bool = False
    rpop_seen_at: datetime | None = None
    source_problem: Message | None = None


@dataclass(frozen=True, slots=True)
class PoolFailure:
    """The last failure of a pool in this process."""

    at: datetime
    reason: Message


@dataclass(frozen=True, slots=True)
class LostPoolItem:
    """An item that is held back, or queued and in no list: a crash left it, or a program used it without a report."""

    id: int
    entry_id: int | None
    external_id: str | None
    queued_at: datetime
    queued_by: str | None
    is_held: bool = False
