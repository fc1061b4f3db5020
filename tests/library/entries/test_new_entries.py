"""Entries that are new since a cursor: none is left out, whatever happens meanwhile."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from feedmill.errors import DatabaseUnavailable
from feedmill.library.entries import new_entries as module
from feedmill.library.entries import sync_cursor as cursors
from feedmill.library.entries.list_entry_ids import entry_ids
from feedmill.library.entries.new_entries import cursor_of_now, new_entries
from feedmill.library.entries.sync_cursor import (
    BadSyncCursor,
    SyncCursor,
    decode_cursor,
    encode_cursor,
    first_cursor,
)
from feedmill.model.entry_lists import ALL_ENTRIES, EntryView
from feedmill.model.timestamps import to_iso
from feedmill.model.user import User
from feedmill.store.database import Database, Step
from feedmill.store.entries.fill_deferred_entries import fill_deferred
from feedmill.store.entries.sync import missing_ids
from tests.databases import emptied
from tests.library.small_library import HOUR, NOW, SmallLibrary
from tests.store.library_rows import ADD_ENTRY
from tests.waiting import until

MINUTE = timedelta(minutes=1)


@pytest.fixture
async def postgresql(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    async with emptied(request, "postgresql", tmp_path) as database:
        yield database


async def _read(library: SmallLibrary, user: User, cursor: SyncCursor, most: int = 100) -> tuple[list[int], SyncCursor]:
    """Everything that is new, page by page, with the cursor written and read in between."""
    found: list[int] = []
    for _ in range(100):
        page = await new_entries(library.db, user.id, cursor, most, library.now)
        assert len(page.items) <= most
        found += [entry.id for entry in page.items]
        cursor = decode_cursor(encode_cursor(page.cursor))
        if not page.more:
            return found, cursor
    raise AssertionError("the pages do not end")


async def test_each_entry_comes_once_in_the_order_in_which_it_was_stored(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, charlie = await library.person("alice"), await library.person("charlie")
    mills, tides, others = [await library.feed(name) for name in ("mills", "tides", "others")]
    for user, feed in ((alice, mills), (alice, tides), (charlie, others)):
        await library.subscribe(user, feed)
    first = await library.arrive(mills, "a", "b", at=NOW)
    first += await library.arrive(tides, "c", at=NOW - HOUR)
    await library.arrive(others, "x")

    before, cursor = await _read(library, alice, first_cursor(library.now), most=2)
    nothing, cursor = await _read(library, alice, cursor)
    library.now += MINUTE
    second = await library.arrive(tides, "d", "e", at=NOW - 9 * HOUR)
    await library.arrive(others, "y")
    after, cursor = await _read(library, alice, cursor, most=1)
    library.now += HOUR
    last, _ = await _read(library, alice, cursor)

    assert (before, nothing, after, last) == (first, [], second, [])


async def test_entries_that_come_between_two_pages_come_after_them(db: Database) -> None:
    library = SmallLibrary(db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    there = await library.arrive(feed, *"abcde", at=NOW)

    page = await new_entries(db, alice.id, first_cursor(library.now), 3, library.now)
    there += await library.arrive(feed, "new", at=NOW - HOUR)
    rest, _ = await _read(library, alice, page.cursor)

    assert page.more
    assert [entry.id for entry in page.items] + rest == there


async def test_a_new_subscriber_of_an_old_feed_gets_its_old_entries_once(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, bob = await library.person("alice"), await library.person("bob")
    own, shared = await library.feed("own"), await library.feed("shared")
    await library.subscribe(alice, own), await library.subscribe(bob, shared)
    old = await library.arrive(shared, *"abc")
    [mine] = await library.arrive(own, "mine")

    first, cursor = await _read(library, alice, first_cursor(library.now))
    library.now += HOUR
    await library.subscribe(alice, shared)
    found, cursor = await _read(library, alice, cursor, most=2)
    library.now += MINUTE
    again, cursor = await _read(library, alice, cursor)
    library.now += HOUR
    later, _ = await _read(library, alice, cursor)

    assert (first, found, again, later) == ([mine], old, [], [])


async def test_a_subscription_that_is_made_while_another_is_read_is_read_from_its_beginning(db: Database) -> None:
    library = SmallLibrary(db)
    alice, bob = await library.person("alice"), await library.person("bob")
    older, newer = await library.feed("older"), await library.feed("newer")
    await library.subscribe(bob, older), await library.subscribe(bob, newer)
    old = await library.arrive(newer, "a") + await library.arrive(older, *"bcd") + await library.arrive(newer, "e")
    _, cursor = await _read(library, alice, first_cursor(library.now))
    library.now += HOUR

    await library.subscribe(alice, older)
    page = await new_entries(db, alice.id, cursor, 2, library.now)
    await library.subscribe(alice, newer)
    rest, _ = await _read(library, alice, page.cursor, most=2)

    assert page.more
    assert sorted({*(entry.id for entry in page.items), *rest}) == old


async def test_a_cursor_of_now_gives_only_what_comes_after(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    await library.arrive(feed, "a", "b")

    cursor = await cursor_of_now(any_db, alice.id, library.now)
    new = await library.arrive(feed, "c")

    assert (await _read(library, alice, cursor))[0] == new


async def test_what_is_deferred_during_a_request_is_not_given_as_read(any_db: Database) -> None:
    """The list was filled when the request began; a refresh of a popular feed came before the page was read."""
    library = SmallLibrary(any_db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    await fill_deferred(any_db, alice.id)
    [late] = await library.arrive(feed, "late", defers_unread=True)

    page = await new_entries(any_db, alice.id, first_cursor(library.now), 10, library.now)

    assert [(entry.id, entry.unread) for entry in page.items] == [(late, True)]


class TakesNoWrites:
    """A database whose disk is full."""

    def __init__(self, inner: Database) -> None:
        self.inner = inner
        self.dialect_name = inner.dialect_name
        self.query = inner.query

    async def batch(self, steps: Sequence[Step]) -> list[int]:
        raise DatabaseUnavailable("the disk is full")


async def test_no_cursor_goes_beyond_entries_that_could_not_be_added_to_the_unread_list(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    await library.arrive(feed, "late", defers_unread=True)
    full: Any = TakesNoWrites(any_db)

    with pytest.raises(DatabaseUnavailable):
        await new_entries(full, alice.id, first_cursor(library.now), 10, library.now)
    with pytest.raises(DatabaseUnavailable):
        await entry_ids(full, alice.id, EntryView.UNREAD, ALL_ENTRIES, 0, 10, library.now)


async def test_what_is_deferred_before_a_cursor_is_in_the_unread_ids_that_go_with_it(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    [late] = await library.arrive(feed, "late", defers_unread=True)

    found = await entry_ids(any_db, alice.id, EntryView.UNREAD, ALL_ENTRIES, 0, 10, library.now)

    assert (found.ids, await _read(library, alice, found.cursor)) == ([late], ([], found.cursor))


async def test_an_entry_that_another_worker_commits_late_is_not_lost(
    request: pytest.FixtureRequest, postgresql: Database
) -> None:
    library = SmallLibrary(postgresql)
    alice = await library.person()
    slow, fast = await library.feed("slow"), await library.feed("fast")
    held = await library.subscribe(alice, slow)
    await library.subscribe(alice, fast)
    blocker = await asyncpg.connect(request.getfixturevalue("postgres_service").url)
    try:
        # A refresh counts unread entries after it has stored them, so it waits with their ids taken.
        await blocker.execute("BEGIN")
        await blocker.execute(f"SELECT id FROM subscriptions WHERE id = {held} FOR UPDATE")
        refresh = asyncio.create_task(library.arrive(slow, "late 1", "late 2"))
        waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
        await until(lambda: _is_positive(blocker, waiting), otherwise="the refresh does not wait")
        first = await library.arrive(fast, "early")

        before, cursor = await _read(library, alice, first_cursor(library.now))
        await blocker.execute("COMMIT")
        late = await refresh
        after, cursor = await _read(library, alice, cursor, most=1)
        library.now += HOUR
        last, cursor = await _read(library, alice, cursor)
    finally:
        await blocker.close()

    assert max(late) < first[0]
    assert (before, after, last) == (first, late, [])
    assert cursor.missing == ()


async def _is_positive(connection: asyncpg.Connection, query: str) -> bool:
    return bool(await connection.fetchval(query))


async def test_with_too_many_gaps_the_program_is_told_to_come_back_and_nothing_is_lost(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_RANGES", 2)
    library = SmallLibrary(db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    base = (await library.arrive(feed, "first"))[0]
    stored = [base + place for place in (2, 4, 6, 8)]
    await _store_as(db, feed, stored)

    found, cursor = await _read(library, alice, first_cursor(library.now), most=3)
    await _store_as(db, feed, [base + place for place in (1, 3, 5, 7)])
    rest, _ = await _read(library, alice, cursor, most=3)

    assert sorted({*found, *rest}) == list(range(base, base + 9))


async def test_a_gap_that_splits_into_too_many_is_read_again_and_nothing_is_lost(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_RANGES", 2)
    monkeypatch.setattr(cursors, "MOST_RANGES", 2)
    library = SmallLibrary(db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    base = (await library.arrive(feed, "first"))[0]
    await _store_as(db, feed, [base + 9])

    found, cursor = await _read(library, alice, first_cursor(library.now))
    for some in ((2, 4, 6, 8), (1, 3, 5, 7)):
        await _store_as(db, feed, [base + place for place in some])
        more, cursor = await _read(library, alice, cursor, most=3)
        found += more

    assert sorted(set(found)) == list(range(base, base + 10))


async def _store_as(db: Database, feed_id: int, ids: list[int]) -> None:
    """Stores entries with these ids, as transactions do that took them in another order."""
    at = to_iso(NOW)
    same = {"feed_id": feed_id, "sort_at": at, "refresh_token": "t", "digest": "d", "summary": None}
    rows = [same | {"id": id, "guid": str(id), "first_seen_at": at, "last_seen_at": at} for id in ids]
    await db.batch([Step(ADD_ENTRY, rows)])


@pytest.mark.parametrize(
    "text",
    ["", "x", "é", "AAAA", "bnVsbA", "W10", "a" * 9000]
    + [
        encode_cursor(replace(first_cursor(NOW), **changes))  # type: ignore[arg-type]
        for changes in (
            {"last_id": -1},
            {"last_id": 2**60},
            {"missing": ((1, 30_000),)},
            {"missing": ((5, 4),)},
            {"missing": tuple((n, n) for n in range(2, 2000, 2))},
            {"complete": ((0, 3),)},
            {"subscribed_at": "yesterday"},
            {"filled_to": 2**53},
        )
    ],
)
def test_a_cursor_that_the_server_did_not_give_is_refused(text: str) -> None:
    with pytest.raises(BadSyncCursor):
        decode_cursor(text)


def test_the_largest_cursor_fits_into_a_url() -> None:
    # As many ids as may be missing, of ten million that were stored meanwhile.
    ranges = tuple((n, n + 65) for n in range(10**9, 10**9 + 40_000 * missing_ids.MOST_RANGES, 40_000))
    complete = ranges[-cursors.MOST_COMPLETE :]
    cursor = replace(first_cursor(NOW), last_id=2**40, missing=ranges, complete=complete)

    written = encode_cursor(cursor)

    assert decode_cursor(written) == cursor
    assert len(written) < 6000


async def test_a_program_reads_on_after_many_subscriptions_were_made_at_once(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_COMPLETE", 1)
    library = SmallLibrary(db)
    alice, bob = await library.person("alice"), await library.person("bob")
    feeds = [await library.feed(name) for name in "abc"]
    for feed in feeds:
        await library.subscribe(alice, feed), await library.subscribe(bob, feed)
    ids = [id for feed in feeds for id in await library.arrive(feed, "x")]

    found, cursor = await _read(library, alice, first_cursor(library.now))
    again, _ = await _read(library, alice, cursor)

    assert (found, len(cursor.complete)) == (ids, 1)
    assert again == ids[:2]
