"""A user's subscription to a feed, and folders."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from msgspec import Struct

from feedmill.i18n.messages import Message

SubscriptionState = Literal["moved", "paused", "gone", "stopped", "broken", "failing", "resting", "queued", "healthy"]


class Subscription(Struct, frozen=True, gc=False):
    """Times are strings, as in the row, because pages show a thousand of these at once.

    `title` is the title to show, `own_title` the user's, `feed_title` the feed's own. `interval_seconds` and
    `archive_policy` are None when the user did not choose. `is_private`: only this user may read the feed. `icon` is
    the name of the stored icon.
    """

    id: int
    feed_id: int
    url: str
    title: str
    own_title: str | None
    feed_title: str | None
    site_url: str | None
    icon_url: str | None
    folder_ids: tuple[int, ...]
    unread_count: int
    entry_count: int
    interval_seconds: int | None
    archive_policy: str | None
    paused: bool
    same_story_once: bool
    is_private: bool
    state: SubscriptionState
    next_fetch_at: str | None
    next_fetch_why: Message | None
    last_fetched_at: str | None
    last_success_at: str | None
    last_entry_at: str | None
    consecutive_failures: int
    last_error: Message | None
    created_at: str
    icon: str | None


class SubscriptionName(NamedTuple):
    """The id and title of a subscription."""

    id: int
    title: str


class SidebarFeed(Struct, frozen=True, gc=False):
    """What the sidebar shows of a feed; `id` is the id of the subscription."""

    id: int
    title: str
    unread: int
    is_failing: bool
    icon: str | None

    @property
    def path(self) -> str:
        return f"/feed/{self.id}"

    @property
    def initial(self) -> str:
        """The first letter or digit of the title, shown in place of a missing icon."""
        return next((letter.upper() for letter in self.title if letter.isalnum()), "·")


@dataclass(frozen=True, slots=True)
class Folder:
    """`parent_id` is 0 at the top. `same_story_once`: articles that other feeds have too are shown once."""

    id: int
    parent_id: int
    name: str
    position: int
    same_story_once: bool = True
