"""An article, its revisions, and the previous and next ones."""

from datetime import timedelta
from pathlib import Path

import pytest

from feedmill.archive.files import FolderBlobs
from feedmill.errors import NotFound
from feedmill.library.entries.article import Article, read_article, reading_minutes
from feedmill.library.entries.list_entries import EntryListQuery
from feedmill.library.entries.marks import apply_marks
from feedmill.library.entries.revisions import diff_revisions, original_html, revisions_of
from feedmill.library.entries.text_diff import DiffPiece
from feedmill.model.entry_lists import EntryOrder, EntryScope, EntryView
from feedmill.model.entry_marks import EntryMarks
from feedmill.model.parsed_feed import Enclosure
from feedmill.model.refresh import Revision
from feedmill.model.user import User
from feedmill.store.database import Database
from feedmill.store.entries.add_entries import steps_to_add_revisions
from tests.library.small_library import NOW, SmallLibrary

SEEN = "2026-02-19T00:00:00.000Z"


class ArticleSetup:
    """A user who reads."""

    def __init__(self, db: Database, folder: Path) -> None:
        self.db, self.library, self.blobs = db, SmallLibrary(db), FolderBlobs(folder / "objects")

    async def open(self) -> None:
        self.alice: User = await self.library.person()
        self.feed = await self.library.feed()
        self.subscription = await self.library.subscribe(self.alice, self.feed)

    async def read(self, entry_id: int, user: User | None = None, **more: object) -> Article:
        return await read_article(self.db, self.blobs, (user or self.alice).id, entry_id, NOW, **more)  # type: ignore[arg-type]


@pytest.fixture
async def articles(db: Database, tmp_path: Path) -> ArticleSetup:
    articles = ArticleSetup(db, tmp_path)
    await articles.open()
    return articles


async def test_an_article_is_sanitized_and_has_its_metadata(articles: ArticleSetup) -> None:
    html = '<p onclick="x()">Hello <script>x()</script>world</p>'
    audio = Enclosure("https://example.org/a.mp3", "audio/mpeg", 1000, timedelta(seconds=90))
    [entry] = await articles.library.arrive(
        articles.feed, "a", content_html=html, enclosures=(audio,), categories=("news",)
    )

    article = await articles.read(entry)
    raw = await articles.read(entry, raw=True)

    assert (article.html, article.raw_html, raw.raw_html) == ("<p>Hello world</p>", None, html)
    assert [(one.url, one.type, one.length, one.seconds) for one in article.enclosures] == [
        ("https://example.org/a.mp3", "audio/mpeg", 1000, 90)
    ]
    assert (article.categories, article.minutes, article.unread) == (("news",), 1, True)


async def test_an_article_shows_its_newest_text_and_the_first_one_is_kept(articles: ArticleSetup) -> None:
    [entry] = await articles.library.arrive(articles.feed, "first", content_html="<p>one word</p>")
    revision = Revision(entry, 1, "e", "https://example.org/", "second", None, None, "<p>another word</p>")
    await articles.db.batch(steps_to_add_revisions([revision], SEEN))

    newest, first = await articles.read(entry), await articles.read(entry, version=0)

    assert (newest.title, newest.html, newest.version) == ("second", "<p>another word</p>", 1)
    assert (first.title, first.html, first.version) == ("first", "<p>one word</p>", 0)
    assert await original_html(articles.db, articles.alice.id, entry) == "<p>one word</p>"
    versions = await revisions_of(articles.db, articles.alice.id, entry)
    assert [(one.number, one.seen_at, one.title) for one in versions][1:] == [(1, SEEN, "second")]
    changed = await diff_revisions(articles.db, articles.alice.id, entry, 0, 1)
    assert changed.text == [DiffPiece("removed", "one"), DiffPiece("added", "another"), DiffPiece("same", " word")]
    with pytest.raises(NotFound):
        await articles.read(entry, version=2)


async def test_an_entry_that_the_user_cannot_see_is_not_found(articles: ArticleSetup) -> None:
    [entry] = await articles.library.arrive(articles.feed, "a")
    charlie = await articles.library.person("charlie")

    with pytest.raises(NotFound, match="there is no such entry"):
        await articles.read(entry, charlie)
    with pytest.raises(NotFound, match="there is no such entry"):
        await revisions_of(articles.db, charlie.id, entry)
    with pytest.raises(NotFound, match="there is no such entry"):
        await diff_revisions(articles.db, charlie.id, entry, 0, 0)


@pytest.mark.parametrize("order", EntryOrder)
async def test_the_previous_and_next_articles_are_those_of_the_list(articles: ArticleSetup, order: EntryOrder) -> None:
    a, b, c, d = await articles.library.arrive(articles.feed, *"abcd")
    await apply_marks(articles.db, articles.alice.id, [c], EntryMarks(read=True), NOW)
    await apply_marks(articles.db, articles.alice.id, [a, d], EntryMarks(starred=True), NOW)

    async def beside(entry: int, view: EntryView) -> tuple[int | None, int | None]:
        article = await articles.read(entry, within=EntryListQuery(view, EntryScope((articles.subscription,)), order))
        around = (article.previous_id, article.next_id)
        return around if order is EntryOrder.OLDEST else (around[1], around[0])

    assert await beside(b, EntryView.ALL) == (a, c)
    assert await beside(b, EntryView.UNREAD) == (a, d)
    # It was just read and has left the list; its position is still known.
    assert await beside(c, EntryView.UNREAD) == (b, d)
    assert await beside(a, EntryView.STARRED) == (None, d)
    assert await beside(b, EntryView.STARRED) == (None, None)


@pytest.mark.parametrize(
    ("html", "minutes"),
    [
        ("", 0),
        ("<p><img src=x></p>", 0),
        ("<p>word</p>", 1),
        ("<p>word </p>" * 500, 3),
        ("<p>" + "字" * 1000 + "</p>", 3),
    ],
)
def test_the_reading_time_counts_words_or_characters(html: str, minutes: int) -> None:
    assert reading_minutes(html) == minutes
