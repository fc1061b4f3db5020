"""Where reading goes on at the end of a list: the next feed or folder with unread entries."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol


class ListedFeed(Protocol):
    """A feed of the sidebar."""

    @property
    def id(self) -> int: ...
    @property
    def title(self) -> str: ...
    @property
    def unread(self) -> int: ...


class ListedFolder(Protocol):
    """A folder of the sidebar, with what is in it."""

    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def unread(self) -> int: ...
    @property
    def feeds(self) -> Sequence[ListedFeed]: ...
    @property
    def folders(self) -> "Sequence[ListedFolder]": ...


class NextList(NamedTuple):
    path: str
    name: str
    unread: int


def next_list(folders: Sequence[ListedFolder], feeds: Sequence[ListedFeed], path: str) -> NextList | None:
    """After a feed comes a feed, after a folder a folder or a feed without one, in the order of the sidebar.

    After the last one comes the first. None if no other has unread entries, and for views of everything.
    """
    places = list(_feeds(folders, feeds) if path.startswith("/feed/") else _folders_and_feeds(folders, feeds, path))
    here = next((number for number, place in enumerate(places) if place.path == path), None)
    if here is None:
        return None
    return next((each for each in places[here + 1 :] + places[:here] if each.unread and each.path != path), None)


def _feeds(folders: Iterable[ListedFolder], feeds: Iterable[ListedFeed]) -> Iterator[NextList]:
    for folder in folders:
        yield from _feeds(folder.folders, folder.feeds)
    yield from (NextList(f"/feed/{feed.id}", feed.title, feed.unread) for feed in feeds)


def _folders_and_feeds(folders: Iterable[ListedFolder], feeds: Iterable[ListedFeed], path: str) -> Iterator[NextList]:
    """What is in the folder at `path` is left out: its list has it."""
    for folder in folders:
        yield NextList(f"/folder/{folder.id}", folder.name, folder.unread)
        if f"/folder/{folder.id}" != path:
            yield from _folders_and_feeds(folder.folders, (), path)
    yield from (NextList(f"/feed/{feed.id}", feed.title, feed.unread) for feed in feeds)
