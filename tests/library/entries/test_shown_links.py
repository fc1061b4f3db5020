"""Links are shown without tracking parameters; what is stored keeps them."""

import json
from pathlib import Path

from sqlalchemy import select

from feedmill.archive.files import FolderBlobs
from feedmill.library.entries.article import Article, read_article
from feedmill.library.entries.entry_texts import entry_texts
from feedmill.library.entries.export_starred import export_starred
from feedmill.library.entries.list_entries import EntryListQuery, list_entries
from feedmill.library.entries.marks import apply_marks_to_entry
from feedmill.library.entries.sync_entries import rendered_entries
from feedmill.model.entry_marks import EntryMarks
from feedmill.model.user import User
from feedmill.store.database import Database
from feedmill.store.schema import entries
from tests.library.small_library import NOW, SmallLibrary

SENT, SHOWN = "https://example.org/a?id=1&utm_source=rss", "https://example.org/a?id=1"
TEXT = '<p><a href="/b?fbclid=1">b</a> <a href="https://example.org/c?d=1#e">c</a></p>'


async def arrive_tracked(db: Database) -> tuple[User, int]:
    library = SmallLibrary(db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    [entry] = await library.arrive(
        feed, "a", link=SENT, content_html=TEXT, base_url="https://example.org/", comments_url=f"{SENT}#comments"
    )
    return alice, entry


async def read(db: Database, folder: Path, user: User, entry_id: int) -> Article:
    return await read_article(db, FolderBlobs(folder), user.id, entry_id, NOW, raw=True)


async def test_lists_articles_and_apps_get_links_without_trackers(db: Database, tmp_path: Path) -> None:
    alice, entry = await arrive_tracked(db)

    [listed] = (await list_entries(db, alice.id, EntryListQuery(), NOW)).items
    [synced] = await rendered_entries(db, alice.id, [entry], str)
    [text] = await entry_texts(db, FolderBlobs(tmp_path), alice.id, [entry])
    article = await read(db, tmp_path, alice, entry)

    assert {listed.link, synced.link, text.entry.link, article.link} == {SHOWN}
    assert {article.comments_url, synced.comments_url} == {f"{SHOWN}#comments"}
    for html in (article.html, synced.html, text.html):
        assert 'href="https://example.org/b"' in html
        assert 'href="https://example.org/c?d=1#e"' in html


async def test_an_article_and_the_export_still_have_the_link_that_the_feed_sent(db: Database, tmp_path: Path) -> None:
    alice, entry = await arrive_tracked(db)
    await apply_marks_to_entry(db, alice.id, entry, EntryMarks(starred=True), NOW)

    article = await read(db, tmp_path, alice, entry)
    document = json.loads(b"".join([piece async for piece in export_starred(db, alice.id, NOW)]))

    assert (article.link_as_sent, article.raw_html) == (SENT, TEXT)
    assert document["items"][0]["url"] == SENT
    assert "https://example.org/b?fbclid=1" in document["items"][0]["content_html"]
    [stored] = await db.query(select(entries.c.link).where(entries.c.id == entry))
    assert stored["link"] == SENT


async def test_a_link_without_trackers_is_not_repeated(db: Database, tmp_path: Path) -> None:
    library = SmallLibrary(db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    [entry] = await library.arrive(feed, "a")

    assert (await read(db, tmp_path, alice, entry)).link_as_sent is None
