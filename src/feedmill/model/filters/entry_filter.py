"""A filter of a user: kind, scope, condition and actions."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

from msgspec import Struct

from feedmill.model.timestamps import to_iso

SubjectKind = Literal["word", "author", "site"]


class FilterKind(StrEnum):
    """A filter that a user wrote, or one that was made from a word, an author or a site: a mute or a follow."""

    FILTER = "filter"
    MUTE = "mute"
    FOLLOW = "follow"


class ScopeKind(StrEnum):
    ALL = "all"
    FOLDER = "folder"
    FEED = "feed"


class FilterAction(StrEnum):
    """What a filter does with an entry. `hide`: it is never unread; `raise`: unread lists show it first."""

    READ = "read"
    STAR = "star"
    LABEL = "label"
    LATER = "later"
    HIDE = "hide"
    RAISE = "raise"
    NOTIFY = "notify"
    FULL_TEXT = "full_text"
    POOL = "pool"
    SAVE = "save"


@dataclass(frozen=True, slots=True)
class FilterScope:
    """The feeds of a filter; `id` is that of the folder or the subscription, None if it was deleted."""

    kind: ScopeKind = ScopeKind.ALL
    id: int | None = None


ALL_FEEDS = FilterScope()


class FilterActions(Struct, frozen=True, gc=False, omit_defaults=True):
    """What a filter does with the entries that match."""

    read: bool = False
    star: bool = False
    later: bool = False
    hide: bool = False
    raise_to_top: bool = False
    notify: bool = False
    full_text: bool = False
    label_ids: tuple[int, ...] = ()
    pool_group_ids: tuple[int, ...] = ()
    service_ids: tuple[int, ...] = ()

    @property
    def targets(self) -> tuple[tuple[FilterAction, int], ...]:
        """The actions, each with the label, pool group or service that it is about, or 0."""
        flags = (
            (FilterAction.READ, self.read),
            (FilterAction.STAR, self.star),
            (FilterAction.LATER, self.later),
            # What is read is not unread either.
            (FilterAction.HIDE, self.hide and not self.read),
            (FilterAction.RAISE, self.raise_to_top),
            (FilterAction.NOTIFY, self.notify),
            (FilterAction.FULL_TEXT, self.full_text),
        )
        return (
            *((action, 0) for action, is_set in flags if is_set),
            *((FilterAction.LABEL, label_id) for label_id in self.label_ids),
            *((FilterAction.POOL, group_id) for group_id in self.pool_group_ids),
            *((FilterAction.SAVE, service_id) for service_id in self.service_ids),
        )


NO_ACTIONS = FilterActions()


@dataclass(frozen=True, slots=True)
class FilterSubject:
    """What a mute or a follow is about: a word or phrase, an author, or a site with its subdomains."""

    kind: SubjectKind
    text: str


@dataclass(frozen=True, slots=True)
class FilterDraft:
    """A filter as its owner writes it. `stops`: later filters leave alone what it matches."""

    name: str
    condition: str
    scope: FilterScope = ALL_FEEDS
    actions: FilterActions = NO_ACTIONS
    stops: bool = False
    enabled: bool = True
    expires_at: datetime | None = None


class EntryFilter(Struct, frozen=True):
    """A filter of a user. Times are strings, as in the row. `subject` is None unless it is a mute or a follow."""

    id: int
    user_id: int
    kind: FilterKind
    name: str
    condition: str
    scope: FilterScope
    actions: FilterActions
    stops: bool
    enabled: bool
    position: int
    subject: FilterSubject | None
    expires_at: str | None
    hit_count: int
    last_hit_at: str | None
    created_at: str

    def is_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= to_iso(now)
