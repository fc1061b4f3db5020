"""The title and description of saved pages, and how often a page is requested."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from feedmill.library.bookmarks.service import Bookmarks
from feedmill.library.outbound_tools import OutboundTools
from feedmill.model.bookmark import Bookmark, BookmarkStatus
from feedmill.outbound.address_policy import AddressPolicy
from feedmill.store.database import Database
from feedmill.store.users.users import add_user
from tests.library.webhooks.webhook_setup import open_client
from tests.scripted_web import Answer, Web

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
HTML = {"Content-Type": "text/html; charset=utf-8"}


class BookmarkSetup:
    """Alice's bookmarks, and a clock that a test moves."""

    def __init__(self, db: Database, web: Web, policy: AddressPolicy | None = None) -> None:
        self.now, self.web, self.db = NOW, web, db
        self.client = open_client(policy)
        self.bookmarks = Bookmarks(OutboundTools(db, self.client, lambda: self.now))
        self.alice = 0

    async def save(self, served: Answer) -> Bookmark:
        self.alice = self.alice or (await add_user(self.db, "alice", None, False, NOW)).id
        saved, _ = await self.bookmarks.save(self.alice, self.web.serve("/page", served), None, None)
        return saved

    async def read(self, served: Answer) -> Bookmark:
        """The state of a bookmark whose page gives this response, after one chunk."""
        saved = await self.save(served)
        await self.bookmarks.read_pages()
        return await self.bookmarks.one(self.alice, saved.id)


@pytest.fixture
async def bookmark_setup(db: Database) -> AsyncIterator[BookmarkSetup]:
    async with Web() as web:
        bookmark_setup = BookmarkSetup(db, web)
        yield bookmark_setup
        await bookmark_setup.client.close()


async def test_open_graph_metadata_overrides_the_title_of_the_page(bookmark_setup: BookmarkSetup) -> None:
    page = """<title>Own &amp; long</title><meta property="og:title" content="Kilns &amp; fire">
    <meta property="og:description" content="<b>How</b> to"><meta property="og:image" content="/k.png">"""

    read = await bookmark_setup.read(Answer(page.encode(), headers=HTML))

    assert (read.title, read.description) == ("Kilns & fire", "How to")
    assert read.image_url == bookmark_setup.web.url("/k.png")


async def test_a_page_without_metadata_has_its_title(bookmark_setup: BookmarkSetup) -> None:
    read = await bookmark_setup.read(
        Answer("<title>只有标题</title>".encode("gb18030"), headers={"Content-Type": "text/html; charset=gb2312"})
    )

    assert (read.title, read.description, read.image_url) == ("只有标题", None, None)


async def test_an_image_is_its_own_preview_and_other_files_have_none(bookmark_setup: BookmarkSetup) -> None:
    picture = await bookmark_setup.read(Answer(b"\x89PNG", headers={"Content-Type": "image/png"}))

    assert (picture.status, picture.image_url, picture.title) == (BookmarkStatus.FETCHED, picture.url, None)


@pytest.mark.parametrize("image", ["javascript:alert(1)", "data:image/svg+xml,<svg/>", "http://[", ""])
async def test_an_invalid_image_url_is_ignored(bookmark_setup: BookmarkSetup, image: str) -> None:
    read = await bookmark_setup.read(Answer(f'<meta property="og:image" content="{image}">'.encode(), headers=HTML))

    assert read.image_url is None


async def test_hostile_texts_are_truncated_and_made_plain(bookmark_setup: BookmarkSetup) -> None:
    title, description = "x" * 100_000 + "\x00", "<script>a</script>b"
    page = f'<meta property="og:title" content="{title}"><meta name="description" content="{description}">'

    read = await bookmark_setup.read(Answer(page.encode(), headers=HTML))

    assert len(read.title or "") == 500
    assert read.description == "b"


async def test_a_page_that_fails_is_tried_three_times_with_pauses(bookmark_setup: BookmarkSetup) -> None:
    saved = await bookmark_setup.save(Answer(status=500))
    asked = []

    for pause in (timedelta(), timedelta(minutes=1), timedelta(minutes=4), timedelta(hours=1), timedelta(days=1)):
        bookmark_setup.now += pause
        asked.append(await bookmark_setup.bookmarks.read_pages())

    given_up = await bookmark_setup.bookmarks.one(bookmark_setup.alice, saved.id)
    assert asked == [1, 0, 1, 1, 0]
    assert (given_up.status, given_up.attempts) == (BookmarkStatus.FAILED, 3)


async def test_a_page_that_is_too_large_or_missing_is_not_retried(bookmark_setup: BookmarkSetup) -> None:
    assert (await bookmark_setup.read(Answer(b"x" * 4_100_000, headers=HTML))).status is BookmarkStatus.FAILED


async def test_a_private_address_is_never_requested(db: Database) -> None:
    async with Web() as web:
        bookmark_setup = BookmarkSetup(db, web, AddressPolicy())
        read = await bookmark_setup.read(Answer(b"<title>secret</title>", headers=HTML))
        await bookmark_setup.client.close()

    assert (read.status, read.title, web.requests) == (BookmarkStatus.FAILED, None, [])
