"""Loads the sidebar around every page: views, folders, feeds, labels, saved searches, running job."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from starlette.requests import Request

from feedmill.library.entries.labels import label_names_of_user
from feedmill.library.jobs.user_jobs import running_job
from feedmill.library.search.saved_searches import saved_searches_of_user
from feedmill.model.batch import Batch
from feedmill.model.entry_marks import EntryLabel
from feedmill.model.subscription import SidebarFeed
from feedmill.model.user import User
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.sidebar.feed_tree import FeedTree, SidebarFolder, load_feed_tree
from feedmill.serve.web.sidebar.sidebar_counts import view_counts
from feedmill.serve.web.sidebar.sidebar_rows import RowFilter, RowWindow, page_window, visible_rows
from feedmill.serve.web.sidebar.sidebar_state import SidebarState, sidebar_state_of

# With more feeds than this there is a field to filter them.
FEW_FEEDS = 12

# Further screens in the sidebar: path, text key, icon. ADMIN_SCREENS are shown to admins only.
SCREENS: list[tuple[str, str, str]] = [
    ("/feeds", "feeds.manage", "feed"),
    ("/filters", "filters.title", "filter"),
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


@dataclass(frozen=True, slots=True)
class SidebarSearch:
    id: int
    name: str
    query: str

    @property
    def path(self) -> str:
        return f"/search?{urlencode({'q': self.query})}"


@dataclass(frozen=True, slots=True)
class Sidebar:
    """`window` are the rows of the feed list that the page carries; `views` the counts of what is not a feed."""

    tree: FeedTree
    state: SidebarState
    window: RowWindow
    screens: list[tuple[str, str, str]]
    labels: list[EntryLabel] = field(default_factory=list)
    searches: list[SidebarSearch] = field(default_factory=list)
    job: Batch | None = None
    views: Mapping[str, str] = field(default_factory=dict)

    @property
    def unread(self) -> int:
        return self.tree.unread

    @property
    def is_long(self) -> bool:
        """Whether there is something to filter, and the groups below the feeds begin closed."""
        return sum(1 for _ in self.tree.every_feed()) > FEW_FEEDS

    def is_group_open(self, name: str) -> bool:
        return self.state.groups.get(name, not self.is_long)

    @property
    def folders(self) -> list[SidebarFolder]:
        return self.tree.folders

    @property
    def feeds(self) -> list[SidebarFeed]:
        return self.tree.feeds

    def next_unread(self, path: str) -> tuple[str, str] | None:
        """The path and name of the next folder, or feed without a folder, that has unread entries."""
        places = [(each.path, each.name) for each in self.folders if each.unread]
        places += [(each.path, each.title) for each in self.feeds if each.unread]
        others = [place for place in places if place[0] != path]
        return others[0] if others else None


async def load_sidebar(request: Request, user: User, active: str = "") -> Sidebar:
    """Loads the sidebar of a user for the page at `active`."""
    db = the_app(request).db
    tree, labels, searches, job, views = await asyncio.gather(
        load_feed_tree(db, user.id),
        label_names_of_user(db, user.id),
        saved_searches_of_user(db, user.id),
        running_job(db, user.id),
        view_counts(request, user.id),
    )
    state = sidebar_state_of(user)
    return Sidebar(
        tree=tree,
        state=state,
        window=page_window(visible_rows(tree, RowFilter(state, active)), active),
        screens=SCREENS + (ADMIN_SCREENS if user.is_admin else []),
        labels=labels,
        searches=[SidebarSearch(saved.id, saved.name, saved.query) for saved in searches],
        job=job,
        views=views,
    )
