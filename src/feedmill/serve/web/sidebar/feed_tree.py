"""A user's folders and feeds as a tree, with unread counts."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from feedmill.library.subscriptions.folders import folders_of_user
from feedmill.library.subscriptions.lookup import sidebar_feeds_of_user
from feedmill.model.subscription import Folder, SidebarFeed
from feedmill.store.database import Database


@dataclass(slots=True)
class SidebarFolder:
    """`unread` counts the entries of all feeds in the folder and its subfolders, each feed once."""

    id: int
    name: str
    feeds: list[SidebarFeed]
    folders: list["SidebarFolder"]
    unread: int = 0

    @property
    def path(self) -> str:
        return f"/folder/{self.id}"

    def every_feed(self) -> Iterable[SidebarFeed]:
        yield from self.feeds
        for folder in self.folders:
            yield from folder.every_feed()


@dataclass(frozen=True, slots=True)
class FeedTree:
    """The top-level folders with their contents, and the feeds without a folder."""

    folders: list[SidebarFolder] = field(default_factory=list)
    feeds: list[SidebarFeed] = field(default_factory=list)

    @property
    def unread(self) -> int:
        return sum({feed.id: feed.unread for feed in self.every_feed()}.values())

    def every_feed(self) -> Iterator[SidebarFeed]:
        """All feeds; one in two folders comes twice."""
        for folder in self.folders:
            yield from folder.every_feed()
        yield from self.feeds

    def every_folder(self) -> Iterator[SidebarFolder]:
        """All folders, each before those in it."""
        waiting = self.folders[::-1]
        while waiting:
            folder = waiting.pop()
            yield folder
            waiting += folder.folders[::-1]


async def load_feed_tree(db: Database, user_id: int) -> FeedTree:
    (feeds, filed), folders = await asyncio.gather(sidebar_feeds_of_user(db, user_id), folders_of_user(db, user_id))
    return build_feed_tree(feeds, folders, filed)


def build_feed_tree(
    feeds: Sequence[SidebarFeed], folders: Sequence[Folder], filed: Mapping[int, Sequence[int]]
) -> FeedTree:
    """The feeds in their folders; both keep their order. `filed` are the ids of feeds by folder."""
    nodes = {folder.id: SidebarFolder(folder.id, folder.name, [], []) for folder in folders}
    tree = FeedTree()
    for folder in folders:
        parent = nodes.get(folder.parent_id)
        (parent.folders if parent else tree.folders).append(nodes[folder.id])
    places: dict[int, list[int]] = {}
    for folder_id, ids in filed.items():
        for id in ids if folder_id in nodes else ():
            places.setdefault(id, []).append(folder_id)
    for feed in feeds:
        for place in [nodes[id].feeds for id in places.get(feed.id, ())] or [tree.feeds]:
            place.append(feed)
    for node in tree.every_folder():
        node.unread = sum({feed.id: feed.unread for feed in node.every_feed()}.values())
    return tree
