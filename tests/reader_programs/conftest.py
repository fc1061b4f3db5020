"""A running server with sample feeds for each test, and Alice's app password, for real reader programs."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from feedmill.library.entries.sync_entries import RenderedEntry, mark_in_chunks, rendered_entries, sync_ids
from feedmill.library.users.app_passwords import create_app_password
from feedmill.model.entry_marks import EntryMarks
from feedmill.model.sync_query import SyncQuery
from feedmill.model.user import Caller
from feedmill.serve.web.users.known_apps import BY_ID, PATHS
from tests.browser import sample_feeds
from tests.browser.site_server import SiteServer, run_site_server
from tests.scripted_web import Answer

DEVICE = "Alice's computer"


@dataclass(frozen=True)
class ReadingServer:
    """Alice's Feedmill as a program on the same machine sees it, and what the server itself knows."""

    server: SiteServer
    name: str
    password: str

    @property
    def url(self) -> str:
        return self.server.origin

    def address_for(self, app_id: str) -> str:
        """The address that the page *Apps* tells Alice to enter in this app."""
        return self.url + PATHS[BY_ID[app_id].api]

    def titles(self, *, unread: bool | None = None, starred: bool | None = None) -> set[str]:
        """The titles of Alice's entries, or of those in this state."""
        return self.server.do(self._titles(SyncQuery(unread=unread, starred=starred)))

    def publish(self, feed: sample_feeds.SampleFeed) -> str:
        """Puts a feed that nobody is subscribed to on the web of the test; returns its URL."""
        answer = Answer(sample_feeds.as_rss(feed), headers={"Content-Type": "application/rss+xml"})
        return self.server.site.web.serve(feed.path, answer)

    def subscribe(self, feed: sample_feeds.SampleFeed) -> None:
        """Subscribes Alice to a new feed, as she does in the browser."""
        self.server.do(self._subscribe(feed))

    def mark(self, titles: set[str], marks: EntryMarks) -> None:
        """Marks those of Alice's entries that have these titles, as she does in the browser."""
        self.server.do(self._mark(titles, marks))

    async def _titles(self, wanted: SyncQuery) -> set[str]:
        return {entry.title for entry in await self._entries(wanted)}

    async def _subscribe(self, feed: sample_feeds.SampleFeed) -> None:
        await sample_feeds.subscribe_to(self.server.site, await sample_feeds.find_user(self.server.site), feed)

    async def _mark(self, titles: set[str], marks: EntryMarks) -> None:
        alice = await sample_feeds.find_user(self.server.site)
        ids = [entry.id for entry in await self._entries(SyncQuery()) if entry.title in titles]
        await mark_in_chunks(self.server.site.app.db, alice, ids, marks, datetime.now(UTC))

    async def _entries(self, wanted: SyncQuery) -> list[RenderedEntry]:
        db = self.server.site.app.db
        alice = await sample_feeds.find_user(self.server.site)
        return await rendered_entries(db, alice.id, await sync_ids(db, alice.id, wanted), lambda key: key)


@pytest.fixture
def reading_server(tmp_path: Path) -> Iterator[ReadingServer]:
    with run_site_server(tmp_path, sample_feeds.prepare) as server:
        yield ReadingServer(server, sample_feeds.NAME, server.do(_app_password(server)))


async def _app_password(server: SiteServer) -> str:
    alice = await sample_feeds.find_user(server.site)
    who = Caller(alice, alice.scopes)
    now = datetime.now(UTC)
    password, _ = await create_app_password(server.site.app.db, who, DEVICE, now, allows_fever=True)
    return password
