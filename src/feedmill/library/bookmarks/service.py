"""Saves, lists, changes and deletes a user's bookmarks."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from feedmill.errors import NotFound
from feedmill.i18n.messages import Message
from feedmill.library.bookmarks.fetch_pages import fetch_bookmark_pages
from feedmill.library.outbound_tools import OutboundTools
from feedmill.library.users.limits import check_byte_quota, check_count_limit
from feedmill.model.bookmark import Bookmark
from feedmill.model.entry_lists import ListPosition
from feedmill.outbound.user_urls import parse_url_without_login
from feedmill.store.bookmarks.bookmarks import (
    add_bookmark,
    bookmark_of,
    bookmarks_before,
    drop_bookmark,
    retry_bookmark,
    save_bookmark,
)


@dataclass(frozen=True, slots=True)
class Bookmarks:
    tools: OutboundTools

    async def save(self, user_id: int, url: str, title: str | None, note: str | None) -> tuple[Bookmark, bool]:
        """Saves a page; the bookmark, and whether it is new. Saving a page again changes nothing."""
        db, now = self.tools.db, self.tools.clock()
        await check_count_limit(db, user_id, "bookmarks")
        await check_byte_quota(db, user_id)
        return await add_bookmark(db, user_id, parse_url_without_login(url), title, note, now)

    async def page(self, user_id: int, position: ListPosition | None, most: int) -> list[Bookmark]:
        """Bookmarks after a position in the list, the newest first."""
        return await bookmarks_before(self.tools.db, user_id, position, most)

    async def one(self, user_id: int, bookmark_id: int) -> Bookmark:
        """The user's bookmark of that id; raises `NotFound`."""
        found = await bookmark_of(self.tools.db, user_id, bookmark_id)
        if found is None:
            raise NotFound(Message("error.no_such_bookmark"))
        return found

    async def change(self, user_id: int, bookmark_id: int, changes: Mapping[str, Any]) -> Bookmark:
        """Changes the `title` or `note`."""
        changed = replace(await self.one(user_id, bookmark_id), **changes)
        await save_bookmark(self.tools.db, changed)
        return changed

    async def delete(self, user_id: int, bookmark_id: int) -> None:
        if not await drop_bookmark(self.tools.db, user_id, bookmark_id):
            raise NotFound(Message("error.no_such_bookmark"))

    async def retry(self, user_id: int, bookmark_id: int) -> Bookmark:
        """Queues a failed page to be fetched again."""
        await retry_bookmark(self.tools.db, user_id, bookmark_id, self.tools.clock())
        return await self.one(user_id, bookmark_id)

    async def read_pages(self) -> int:
        """Fetches a chunk of due pages; how many there were."""
        return await fetch_bookmark_pages(self.tools)
