"""Loads the sidebar around every page: views, folders, feeds, labels, saved searches, running job."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode

from feedmill.library.entries.labels import labels_of_user
from feedmill.library.jobs.user_jobs import running_job
from feedmill.library.search.saved_searches import saved_searches_of_user
from feedmill.library.subscriptions.folders import folders_of_user
from feedmill.library.subscriptions.lookup import subscriptions_of_user
from feedmill.model.batch import Batch
from feedmill.model.subscription import Folder, Subscription
from feedmill.model.user import User
from feedmill.store.database import Database

CLOSED_FOLDERS_COOKIE = "feedmill_folded"

# Further screens in the sidebar: path, text key, icon. ADMIN_SCREENS are shown to admins only.
SCREENS: list[tuple[str, str, str]] = [
    ("/feeds", "feeds.manage", "feed"),
    ("/health-of-feeds", "health_overview.title", "health"),
    ("/archive", "storage_usage.title", "archive"),
    ("/bookmarks", "bookmarks.title", "bookmark"),
    ("/pools", "pools.title", "pool"),
]
ADMIN_SCREENS: list[tuple[str, str, str]] = [("/admin", "admin.title", "shield")]
# Screens of one feed, in the menu of its list: the path after `/feed/n`, text key, icon.
FEED_SCREENS: list[tuple[str, str, str]] = [
    ("/edit", "feed.edit", "settings"),
    ("/health", "health.title", "health"),
    ("/archive", "archive.title", "archive"),
]

FAILING_STATES = frozenset({"failing", "broken", "gone", "stopped"})


@dataclass(frozen=True, slots=True)
class SidebarFeed:
    """A feed in the sidebar; `id` is the id of the subscription."""

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
class SidebarFolder:
    id: int
    name: str
    feeds: list[SidebarFeed]
    folders: list["SidebarFolder"]

    @property
    def unread(self) -> int:
        """The unread entries of all feeds in the folder and its subfolders, each feed counted once."""
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
class SidebarSearch:
    name: str
    query: str

    @property
    def path(self) -> str:
        return f"/search?{urlencode({'q': self.query})}"


@dataclass(frozen=True, slots=True)
class Sidebar:
    unread: int
    screens: list[tuple[str, str, str]]
    folded: frozenset[int] = frozenset()
    folders: list[SidebarFolder] = field(default_factory=list)
    feeds: list[SidebarFeed] = field(default_factory=list)
    labels: list[SidebarLabel] = field(default_factory=list)
    searches: list[SidebarSearch] = field(default_factory=list)
    job: Batch | None = None

    def next_unread(self, path: str) -> tuple[str, str] | None:
        """The path and name of the next folder, or feed without a folder, that has unread entries."""
        places = [(f"/folder/{each.id}", each.name) for each in self.folders if each.unread]
        places += [(f"/feed/{each.id}", each.title) for each in self.feeds if each.unread]
        others = [place for place in places if place[0] != path]
        return others[0] if others else None


async def load_sidebar(db: Database, user: User, folded: str = "") -> Sidebar:
    """Loads the sidebar of a user; `folded` are the ids of closed folders, separated by dots."""
    subscriptions, folders, labels, searches, job = await asyncio.gather(
        subscriptions_of_user(db, user.id),
        folders_of_user(db, user.id),
        labels_of_user(db, user.id),
        saved_searches_of_user(db, user.id),
        running_job(db, user.id),
    )
    tree, loose = build_folder_tree(subscriptions, folders)
    return Sidebar(
        unread=sum(each.unread_count for each in subscriptions),
        screens=SCREENS + (ADMIN_SCREENS if user.is_admin else []),
        folded=frozenset(int(id) for id in folded.split(".") if id.isdecimal() and len(id) < 17),
        folders=tree,
        feeds=loose,
        labels=[SidebarLabel(label.id, label.name) for label in labels],
        searches=[SidebarSearch(saved.name, saved.query) for saved in searches],
        job=job,
    )


def build_folder_tree(
    subscriptions: Sequence[Subscription], folders: Sequence[Folder]
) -> tuple[list[SidebarFolder], list[SidebarFeed]]:
    """The top-level folders with their contents, and the feeds without a folder; feeds sorted by title.

    A feed that has moved is left out once all its entries are read: the user is subscribed to the new feed.
    """
    nodes = {folder.id: SidebarFolder(folder.id, folder.name, [], []) for folder in folders}
    top: list[SidebarFolder] = []
    for folder in folders:
        parent = nodes.get(folder.parent_id)
        (parent.folders if parent else top).append(nodes[folder.id])
    loose: list[SidebarFeed] = []
    listed = [each for each in subscriptions if each.state != "moved" or each.unread_count]
    for each in sorted(listed, key=lambda each: (each.title.casefold(), each.id)):
        feed = SidebarFeed(each.id, each.title, each.unread_count, each.state in FAILING_STATES, each.icon)
        places = [nodes[id].feeds for id in each.folder_ids if id in nodes]
        for place in places or [loose]:
            place.append(feed)
    return top, loose
