"""The rows of the sidebar's feed list: folders and feeds as they are seen, and which of them a page carries.

A page carries the rows around its current place. The others are gaps, which a script fills when they come into sight;
without scripts a gap is a link to all feeds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from feedmill.model.subscription import SidebarFeed
from feedmill.serve.web.sidebar.feed_tree import FeedTree, SidebarFolder
from feedmill.serve.web.sidebar.sidebar_state import SidebarState

# Rows that a page carries, and how many of them stand before the current one.
ROWS, ROWS_BEFORE = 40, 16
# Rows that fill a gap at once.
FILLING, FILLING_BEFORE = 96, 32


@dataclass(frozen=True, slots=True)
class SidebarRow:
    """A folder, or a feed in the folder `parent_id` (0: in none)."""

    depth: int
    parent_id: int
    folder: SidebarFolder | None = None
    feed: SidebarFeed | None = None
    is_open: bool = False

    @property
    def path(self) -> str:
        return self.folder.path if self.folder else self.feed.path if self.feed else ""

    @property
    def unread(self) -> int:
        return self.folder.unread if self.folder else self.feed.unread if self.feed else 0


@dataclass(frozen=True, slots=True)
class RowWindow:
    """Some rows in sight; `first` to `last` is what they and the gaps around them stand for."""

    first: int
    rows: Sequence[SidebarRow]
    start: int
    last: int

    @property
    def gaps(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The gaps before and after the rows: the numbers of their first row and of the one after their last."""
        return (self.first, self.start), (self.start + len(self.rows), self.last)


@dataclass(frozen=True, slots=True)
class RowFilter:
    """What is shown: the rows of open folders, or every feed whose name has these words."""

    state: SidebarState
    active: str = ""
    words: tuple[str, ...] = ()

    def shows_feed(self, feed: SidebarFeed) -> bool:
        if self.words:
            return self._is_named(feed.title)
        return bool(feed.unread) or not self.state.only_unread or feed.path == self.active

    def shows_folder(self, folder: SidebarFolder) -> bool:
        if self.words:
            return self._is_named(folder.name)
        return bool(folder.unread) or not self.state.only_unread or folder.path == self.active

    def opens(self, folder: SidebarFolder) -> bool:
        return bool(self.words) or self.state.is_open(folder.id)

    def _is_named(self, name: str) -> bool:
        folded = name.casefold()
        return all(word in folded for word in self.words)


def visible_rows(tree: FeedTree, shown: RowFilter) -> list[SidebarRow]:
    """All rows that can be scrolled to, from top to bottom."""
    rows = [row for folder in tree.folders for row in _folder_rows(folder, 0, 0, shown)]
    return rows + [SidebarRow(0, 0, feed=feed) for feed in tree.feeds if shown.shows_feed(feed)]


def _folder_rows(folder: SidebarFolder, depth: int, parent_id: int, shown: RowFilter) -> Iterator[SidebarRow]:
    is_open = shown.opens(folder)
    inside = list(_rows_inside(folder, depth + 1, shown)) if is_open else []
    if inside or shown.shows_folder(folder):
        yield SidebarRow(depth, parent_id, folder=folder, is_open=is_open)
        yield from inside


def _rows_inside(folder: SidebarFolder, depth: int, shown: RowFilter) -> Iterator[SidebarRow]:
    for child in folder.folders:
        yield from _folder_rows(child, depth, folder.id, shown)
    yield from (SidebarRow(depth, folder.id, feed=feed) for feed in folder.feeds if shown.shows_feed(feed))


def page_window(rows: Sequence[SidebarRow], path: str) -> RowWindow:
    """The rows around the one with this path; the first ones if there is none."""
    place = next((place for place, row in enumerate(rows) if row.path == path), 0)
    start = max(0, min(place - ROWS_BEFORE, len(rows) - ROWS))
    return RowWindow(0, rows[start : start + ROWS], start, len(rows))


def gap_window(rows: Sequence[SidebarRow], first: int, last: int, near: int) -> RowWindow:
    """The rows of a gap around the one that came into sight."""
    last = min(last, len(rows))
    start = max(first, min(near - FILLING_BEFORE, last - FILLING))
    return RowWindow(first, rows[start : min(start + FILLING, last)], start, last)


def unread_place(rows: Sequence[SidebarRow], path: str, by: int) -> str | None:
    """The path of the next row with unread entries after the one with this path, or before it (`by` -1)."""
    ordered = rows[::by]
    here = next((place for place, row in enumerate(ordered) if row.path == path), -1)
    return next((row.path for row in ordered[here + 1 :] if row.unread and row.path != path), None)
