"""Bookmarks on every database."""

from dataclasses import replace
from datetime import timedelta

from feedmill.i18n.messages import verbatim
from feedmill.model.bookmark import BookmarkStatus, PageFetchFailed, PageMetadata
from feedmill.model.entry_lists import ListPosition
from feedmill.model.timestamps import to_iso
from feedmill.store.bookmarks.bookmarks import (
    add_bookmark,
    bookmark_of,
    bookmarks_before,
    drop_bookmark,
    retry_bookmark,
    save_bookmark,
)
from feedmill.store.bookmarks.page_fetches import (
    record_page_failed,
    record_page_fetched,
    release_bookmarks,
    take_bookmarks,
)
from feedmill.store.database import Database
from feedmill.store.leases import LEASE
from feedmill.store.users.users import add_user
from tests.pools.pool_rows import NOW

URL = "https://example.org/page"


async def _alice(db: Database) -> int:
    return (await add_user(db, "alice", None, False, NOW)).id


async def test_a_page_is_saved_once_for_each_user(any_db: Database) -> None:
    alice, bob = await _alice(any_db), (await add_user(any_db, "bob", None, False, NOW)).id

    first, is_new = await add_bookmark(any_db, alice, URL, None, "mine", NOW)
    again, is_new_again = await add_bookmark(any_db, alice, URL, None, "other", NOW)
    bobs, _ = await add_bookmark(any_db, bob, URL, None, None, NOW)

    assert (is_new, is_new_again, again) == (True, False, first)
    assert bobs.id != first.id
    assert await bookmark_of(any_db, bob, first.id) is None
    assert not await drop_bookmark(any_db, bob, first.id)


async def test_a_page_is_claimed_by_one_worker_until_the_lease_ends(any_db: Database) -> None:
    saved, _ = await add_bookmark(any_db, await _alice(any_db), URL, None, None, NOW)

    slow, [_] = await take_bookmarks(any_db, NOW, 10)
    _, none = await take_bookmarks(any_db, NOW, 10)
    quick, [_] = await take_bookmarks(any_db, NOW + LEASE, 10)
    await record_page_failed(any_db, saved.id, slow, PageFetchFailed(verbatim("too slow"), None))
    await record_page_fetched(
        any_db, saved.id, quick, PageMetadata("A title", "What it says", "https://e.org/i.png"), NOW
    )

    read = await bookmark_of(any_db, saved.user_id, saved.id)
    assert none == []
    assert read is not None
    assert (read.status, read.title, read.image_url) == (BookmarkStatus.FETCHED, "A title", "https://e.org/i.png")


async def test_a_title_and_note_of_the_user_survive_the_fetch(any_db: Database) -> None:
    saved, _ = await add_bookmark(any_db, await _alice(any_db), URL, None, None, NOW)
    token, [taken] = await take_bookmarks(any_db, NOW, 10)

    await save_bookmark(any_db, replace(taken, title="Mine", note="to read"))
    await record_page_fetched(any_db, saved.id, token, PageMetadata("Theirs"), NOW)

    read = await bookmark_of(any_db, saved.user_id, saved.id)
    assert read is not None
    assert (read.title, read.note) == ("Mine", "to read")


async def test_a_failed_page_is_marked_failed_released_or_retried(any_db: Database) -> None:
    saved, _ = await add_bookmark(any_db, await _alice(any_db), URL, None, None, NOW)
    token, [_] = await take_bookmarks(any_db, NOW, 10)
    await release_bookmarks(any_db, token, NOW)
    token, [_] = await take_bookmarks(any_db, NOW, 10)
    await record_page_failed(any_db, saved.id, token, PageFetchFailed(verbatim("no turn"), NOW, counted=False))
    token, [uncounted] = await take_bookmarks(any_db, NOW, 10)
    await record_page_failed(any_db, saved.id, token, PageFetchFailed(verbatim("gone"), None))
    given_up = await bookmark_of(any_db, saved.user_id, saved.id)

    await retry_bookmark(any_db, saved.user_id, saved.id, NOW)
    _, [retried] = await take_bookmarks(any_db, NOW, 10)

    assert uncounted.attempts == 0
    assert given_up is not None
    assert (given_up.status, given_up.attempts, given_up.last_error) == (BookmarkStatus.FAILED, 1, verbatim("gone"))
    assert retried.attempts == 0


async def test_pages_are_in_order_of_time_then_id(any_db: Database) -> None:
    alice = await _alice(any_db)
    times = [NOW, NOW, NOW + timedelta(minutes=1)]
    saved = [
        (await add_bookmark(any_db, alice, f"{URL}{number}", None, None, at))[0] for number, at in enumerate(times)
    ]

    first = await bookmarks_before(any_db, alice, None, 2)
    rest = await bookmarks_before(any_db, alice, ListPosition(to_iso(first[-1].created_at), first[-1].id), 2)

    assert [one.id for one in first + rest] == [saved[2].id, saved[1].id, saved[0].id]
