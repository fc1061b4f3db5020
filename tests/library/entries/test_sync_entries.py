"""Entries for programs that synchronize: nothing missed, nothing repeated, nothing of other users."""

from datetime import datetime, timedelta

from feedmill.library.entries.labels import make_label
from feedmill.library.entries.sync_entries import (
    count_entries,
    mark_in_chunks,
    mark_read_seen_until,
    newest_unread,
    rendered_entries,
    sync_ids,
)
from feedmill.model.entry_lists import EntryScope
from feedmill.model.entry_marks import EntryMarks, MarkAllRead
from feedmill.model.sync_query import SyncOrder, SyncQuery
from feedmill.store.database import Database
from tests.library.small_library import DAY, HOUR, NOW, SmallLibrary


async def test_ids_are_selected_by_state_scope_label_and_time(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, charlie = await library.person("alice"), await library.person("charlie")
    mills, tides, others = [await library.feed(name) for name in ("mills", "tides", "others")]
    of_mills, of_tides = await library.subscribe(alice, mills), await library.subscribe(alice, tides)
    await library.subscribe(charlie, others)
    a, b = await library.arrive(mills, "a", "b")
    library.now += HOUR
    c, d = await library.arrive(tides, "c", "d", at=NOW - 90 * DAY)
    await library.arrive(others, "e")
    label = await make_label(any_db, alice.id, "stone")
    await mark_in_chunks(any_db, alice, [a, c], EntryMarks(read=True, starred=True), NOW)
    await mark_in_chunks(any_db, alice, [b, c], EntryMarks(add_labels=(label.id,)), NOW)

    async def ids(**wanted: object) -> list[int]:
        return await sync_ids(any_db, alice.id, SyncQuery(**wanted))  # type: ignore[arg-type]

    assert await ids() == [d, c, b, a]
    assert await ids(oldest_first=True) == [a, b, c, d]
    assert await ids(unread=True) == [d, b]
    assert await ids(unread=False) == [c, a]
    assert await ids(starred=True) == [c, a]
    assert await ids(starred=False, unread=True) == [d, b]
    assert await ids(scope=EntryScope((of_mills,))) == [b, a]
    assert await ids(scope=EntryScope((of_mills, of_tides)), unread=True) == [d, b]
    assert await ids(scope=EntryScope(None, label.id)) == [c, b]
    assert await ids(seen_since=NOW + HOUR) == [d, c]
    assert await ids(seen_since=NOW + HOUR, unread=True) == [d]
    assert await ids(seen_until=NOW) == [b, a]
    assert await ids(seen_since=NOW + 2 * HOUR) == []
    assert await ids(dated_until=NOW - 60 * DAY) == [d, c]
    assert await ids(dated_since=NOW - 60 * DAY, unread=True) == [b]
    assert await ids(among=(a, d, 999)) == [d, a]
    assert await ids(order=SyncOrder.DATE, offset=1, most=2) == [a, d]
    assert await ids(order=SyncOrder.TITLE, oldest_first=True, most=3) == [a, b, c]
    assert await count_entries(any_db, alice.id, SyncQuery(starred=False, most=1)) == 2
    assert await count_entries(any_db, alice.id, SyncQuery(unread=True, most=1)) == 2
    assert await newest_unread(any_db, alice.id) == {of_mills: NOW, of_tides: NOW + HOUR}


async def test_pages_are_complete_while_entries_arrive(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    there = await library.arrive(feed, *"abcdefg", at=NOW)

    first = await sync_ids(any_db, alice.id, SyncQuery(most=3))
    new = await library.arrive(feed, "new", at=NOW)
    rest = await sync_ids(any_db, alice.id, SyncQuery(most=10, before_id=first[-1]))

    assert first + rest == there[::-1]
    assert await sync_ids(any_db, alice.id, SyncQuery(after_id=there[-1], oldest_first=True)) == new


async def test_what_was_stored_after_the_app_looked_stays_unread(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    moments: list[datetime] = []
    for title in "abcd":
        await library.arrive(feed, title)
        moments.append(library.now)
        library.now += 7 * timedelta(minutes=1)

    await mark_read_seen_until(any_db, alice, MarkAllRead(), moments[1], library.now)
    left = await sync_ids(any_db, alice.id, SyncQuery(unread=True))
    await mark_read_seen_until(any_db, alice, MarkAllRead(), None, library.now)

    assert len(left) == 2
    assert await sync_ids(any_db, alice.id, SyncQuery(unread=True)) == []


async def test_texts_are_safe_and_titles_are_never_empty(db: Database) -> None:
    library = SmallLibrary(db)
    alice, charlie, feed = await library.person(), await library.person("charlie"), await library.feed()
    subscription = await library.subscribe(alice, feed, "Mills")
    html = '<p onclick="x()">How a <b>sluice</b> works<script>alert(1)</script></p>'
    [named, unnamed] = await library.arrive(feed, "a <i>title</i>", "", content_html=html, author="Ada")

    found = await rendered_entries(db, alice.id, [unnamed, named, 999], lambda key: key)

    assert [entry.id for entry in found] == [unnamed, named]
    assert [entry.title for entry in found] == ["How a sluice works", "a title"]
    assert found[0].html == "<p>How a <b>sluice</b> works</p>"
    assert (found[1].subscription_id, found[1].feed_title, found[1].author) == (subscription, "Mills", "Ada")
    assert (found[1].is_unread, found[1].starred_at) == (True, None)
    assert await rendered_entries(db, charlie.id, [named, unnamed], lambda key: key) == []


async def test_tags_are_found_in_every_database(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice = await library.person()
    feed = await library.feed()
    await library.subscribe(alice, feed)
    [wool] = await library.arrive(feed, "wool", categories=("100% Wool_", "Ä" * 60))
    await library.arrive(feed, "none")

    found = [
        await sync_ids(any_db, alice.id, SyncQuery(tags=tags)) for tags in (("100% wool_",), ("Ä" * 60,), ("wool",))
    ]

    assert found == [[wool], [wool], []]
