"""What stands around every page: the views, folders, feeds and labels of the sidebar."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from feedmill.model.account import User
from feedmill.store.database import Database

FOLDED_COOKIE = "feedmill_folded"

# Further screens in the sidebar: address, words, icon. Those of admins are shown to admins only.
SCREENS: list[tuple[str, str, str]] = []
ADMIN_SCREENS: list[tuple[str, str, str]] = []


@dataclass(frozen=True, slots=True)
class SidebarFeed:
    """`id` is the subscription's."""

    id: int
    title: str
    unread: int
    is_failing: bool

    @property
    def initial(self) -> str:
        """The first letter or digit of the title, for where an icon would be."""
        return next((letter.upper() for letter in self.title if letter.isalnum()), "·")


@dataclass(frozen=True, slots=True)
class SidebarFolder:
    id: int
    name: str
    feeds: list[SidebarFeed]
    folders: list["SidebarFolder"]

    @property
    def unread(self) -> int:
        """Of every feed in it once, wherever below it stands."""
        return sum({feed.id: feed.unread for feed in self.every_feed()}.values())

    def every_feed(self) -> Iterable[SidebarFeed]:
        yield from self.feeds
        for folder in self.folders:
            yield from folder.every_feed()


@dataclass(frozen=True, slots=True)
class SidebarLabel:
    id: int
    name: str


@dataclass(frozen=True, slots=True)
class Frame:
    unread: int
    screens: list[tuple[str, str, str]]
    folded: frozenset[int] = frozenset()
    folders: list[SidebarFolder] = field(default_factory=list)
    feeds: list[SidebarFeed] = field(default_factory=list)
    labels: list[SidebarLabel] = field(default_factory=list)


async def load_frame(db: Database, user: User, folded: str = "") -> Frame:
    """The sidebar of a user; `folded` is what the device remembers of closed folders: ids between dots."""
    closed = frozenset(int(id) for id in folded.split(".") if id.isdecimal() and len(id) < 17)
    return Frame(0, SCREENS + (ADMIN_SCREENS if user.is_admin else []), closed)
