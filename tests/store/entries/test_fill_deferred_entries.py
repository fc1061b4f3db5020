"""Deferred entries of popular feeds: who gets their unread rows, when, and how often."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from sqlalchemy import select

from feedmill.errors import ConstraintViolated, DatabaseError, DatabaseUnavailable, StatementRefused
from feedmill.library.entries.list_entries import EntryListQuery, list_entries
from feedmill.library.entries.marks import apply_marks, mark_all_read
from feedmill.library.users.find_caller import caller_of_cookie
from feedmill.library.users.sign_in import begin_session
from feedmill.model.entry_marks import EntryMarks, MarkAllRead
from feedmill.model.user import RequestOrigin, User
from feedmill.store.archive.retention import drop_expired_entries
from feedmill.store.database import Database, Params, Row, Step
from feedmill.store.drivers.postgres import PostgresDatabase
from feedmill.store.entries import deferred_entries as deferring
from feedmill.store.entries import fill_deferred_entries as filling
from feedmill.store.entries.deferred_entries import is_popular
from feedmill.store.entries.fill_deferred_entries import (
    fill_deferred,
    fill_deferred_or_fail,
    fill_first_deferred,
    fill_subscribers,
    steps_to_fill_all,
    steps_to_fill_subscriptions,
)
from feedmill.store.feeds.add_feeds import NewFeed
from feedmill.store.feeds.lifecycle import remove_feed
from feedmill.store.feeds.merge_feeds import Merge, merge_feeds
from feedmill.store.schema import deferred_entries, entries, subscriptions, unread
from feedmill.store.stories.drop_read_copies import steps_to_drop_deferred
from feedmill.store.subscriptions.change_subscription import step_to_lock_feed
from feedmill.store.subscriptions.move_subscription import move_subscription
from feedmill.store.subscriptions.read_subscriptions import subscriptions_of
from feedmill.store.subscriptions.unread_entries import NEWEST_UNREAD
from tests.databases import emptied
from tests.library.small_library import DAY, NOW, SmallLibrary
from tests.services.server import Service
from tests.waiting import LONGEST_WAIT, until

ORIGIN = RequestOrigin(None, None)


@dataclass
class PopularFeed:
    """A feed whose new entries are deferred, and two of its readers."""

    library: SmallLibrary
    alice: User
    bob: User
    feed: int

    @classmethod
    async def of(cls, db: Database) -> "PopularFeed":
        library = SmallLibrary(db)
        alice, bob, feed = await library.person("alice"), await library.person("bob"), await library.feed("popular")
        for reader in (alice, bob):
            await library.subscribe(reader, feed)
        return cls(library, alice, bob, feed)

    @property
    def db(self) -> Database:
        return self.library.db

    async def publish(self, *titles: str) -> list[int]:
        return await self.library.arrive(self.feed, *titles, defers_unread=True)

    async def unread(self, reader: User) -> tuple[int, int]:
        return await self.library.unread_of(reader)


@pytest.fixture
async def popular(any_db: Database) -> PopularFeed:
    return await PopularFeed.of(any_db)


async def test_a_refresh_writes_nothing_for_the_subscribers_of_a_popular_feed(popular: PopularFeed) -> None:
    before = await popular.db.query(select(subscriptions))

    await popular.publish("a", "b")

    assert await popular.db.query(select(subscriptions)) == before
    assert await popular.db.query(select(unread)) == []


async def test_a_reader_gets_the_rows_of_all_refreshes_and_others_do_not(popular: PopularFeed) -> None:
    await popular.publish("a", "b")
    await popular.publish("c")

    await fill_deferred(popular.db, popular.alice.id)

    assert await popular.unread(popular.alice) == (3, 3)
    assert await popular.unread(popular.bob) == (0, 0)


async def test_what_was_read_stays_read_when_the_list_is_filled_again(popular: PopularFeed) -> None:
    [first] = await popular.publish("a")
    await fill_deferred(popular.db, popular.alice.id)
    await apply_marks(popular.db, popular.alice.id, [first], EntryMarks(read=True), NOW)
    await fill_deferred(popular.db, popular.alice.id)
    assert await popular.unread(popular.alice) == (0, 0)

    await popular.publish("b")
    await fill_deferred(popular.db, popular.alice.id)

    assert await popular.unread(popular.alice) == (1, 1)


async def test_what_was_marked_before_the_list_was_filled_stays_as_it_was_marked(popular: PopularFeed) -> None:
    read, kept, _ = await popular.publish("read", "kept", "other")
    await apply_marks(popular.db, popular.alice.id, [read], EntryMarks(read=True), NOW)
    await apply_marks(popular.db, popular.alice.id, [kept], EntryMarks(read=False), NOW)

    await fill_deferred(popular.db, popular.alice.id)

    assert await popular.unread(popular.alice) == (2, 2)


async def test_a_long_absence_is_filled_in_chunks(popular: PopularFeed, monkeypatch: pytest.MonkeyPatch) -> None:
    other = await popular.library.feed("other")
    await popular.library.subscribe(popular.alice, other)
    for title in "abcdefg":
        await popular.publish(title)
        await popular.library.arrive(other, f"{title} too", defers_unread=True)
    monkeypatch.setattr(filling, "CHUNK_SIZE", 3)

    await fill_deferred(popular.db, popular.alice.id)

    assert await popular.unread(popular.alice) == (14, 14)


async def test_processes_that_fill_a_list_at_once_add_each_row_once(popular: PopularFeed) -> None:
    await popular.publish("a", "b", "c")

    await asyncio.gather(*(fill_deferred(popular.db, popular.alice.id) for _ in range(5)))

    assert await popular.unread(popular.alice) == (3, 3)


async def test_a_feed_that_is_popular_now_and_then_loses_nothing(popular: PopularFeed) -> None:
    await popular.publish("a")
    await popular.library.arrive(popular.feed, "b")
    await popular.publish("c")
    await popular.library.arrive(popular.feed, "d")
    assert await popular.unread(popular.alice) == (2, 2)

    await fill_deferred(popular.db, popular.alice.id)

    assert await popular.unread(popular.alice) == (4, 4)


async def test_mark_all_read_leaves_what_was_deferred_after_the_page_was_read(popular: PopularFeed) -> None:
    """An entry that came between the fill and the page is not in it, though other feeds have later ones."""
    await popular.publish("seen")
    await fill_deferred(popular.db, popular.alice.id)
    [late] = await popular.publish("late")
    other = await popular.library.feed("other")
    await popular.library.arrive(other, "of others")

    page = await list_entries(popular.db, popular.alice.id, EntryListQuery(), NOW)
    await fill_deferred(popular.db, popular.alice.id)
    await mark_all_read(popular.db, popular.alice.id, MarkAllRead(up_to=page.as_of), NOW)

    after = await list_entries(popular.db, popular.alice.id, EntryListQuery(), NOW)
    assert ([entry.title for entry in page.items], page.as_of) == (["seen"], late - 1)
    assert [entry.title for entry in after.items] == ["late"]


async def test_a_new_reader_of_a_popular_feed_begins_with_its_newest_entries(popular: PopularFeed) -> None:
    await popular.publish(*(f"entry {number}" for number in range(NEWEST_UNREAD + 5)))
    charlie = await popular.library.person("charlie")
    former = await popular.library.feed("former")
    await popular.library.subscribe(charlie, former)
    [subscription] = await subscriptions_of(popular.db, charlie.id)

    target = NewFeed("https://popular.example.org/")
    await move_subscription(popular.db, charlie.id, subscription, target, NOW, popular.feed)
    await fill_deferred(popular.db, charlie.id)

    assert await popular.unread(charlie) == (NEWEST_UNREAD, NEWEST_UNREAD)


async def test_a_move_locks_both_feeds_before_it_reads(popular: PopularFeed) -> None:
    """A refresh of the target that has begun stores its entries before the subscription moves, or after it."""
    [subscription] = await subscriptions_of(popular.db, popular.alice.id)
    target = await popular.library.feed("target")
    recorded = FailingDatabase(popular.db, fails_at=0, after=False)

    new = NewFeed("https://target.example.org/")
    await move_subscription(recorded, popular.alice.id, subscription, new, NOW, target)  # type: ignore[arg-type]

    assert recorded.steps[:2] == [step_to_lock_feed(feed) for feed in sorted((popular.feed, target))]


@dataclass
class MovingDatabase:
    """Before its first batch, the subscription of Alice moves to another feed."""

    popular: PopularFeed
    target: int
    has_moved: bool = False

    @property
    def dialect_name(self) -> str:
        return self.popular.db.dialect_name

    async def query(self, statement: Any, params: Params | None = None) -> list[Row]:
        return await self.popular.db.query(statement, params or {})

    async def batch(self, steps: list[Step]) -> list[int]:
        if not self.has_moved:
            self.has_moved, db, alice = True, self.popular.db, self.popular.alice.id
            [subscription] = await subscriptions_of(db, alice)
            await move_subscription(db, alice, subscription, NewFeed("https://target.example.org/"), NOW, self.target)
        return await self.popular.db.batch(steps)


async def test_a_fill_says_nothing_of_a_subscription_that_has_moved_meanwhile(popular: PopularFeed) -> None:
    await popular.publish("a", "b")
    moving: Any = MovingDatabase(popular, await popular.library.feed("target"))

    await fill_deferred(moving, popular.alice.id)

    alices = select(subscriptions.c.filled_to).where(subscriptions.c.user_id == popular.alice.id)
    assert await popular.db.query(alices) == [{"filled_to": 0}]
    assert await popular.unread(popular.alice) == (0, 0)


async def test_purged_entries_are_not_added(popular: PopularFeed) -> None:
    await popular.publish("a", "b")
    await popular.db.batch([Step(entries.update().values(in_feed=0))])

    await drop_expired_entries(popular.db, timedelta(days=1), NOW + 2 * DAY)
    await popular.publish("c")
    await fill_deferred(popular.db, popular.alice.id)

    assert await popular.unread(popular.alice) == (1, 1)
    assert len(await popular.db.query(select(deferred_entries))) == 1


async def test_a_removed_feed_leaves_no_rows(popular: PopularFeed) -> None:
    await popular.publish("a")

    await asyncio.gather(remove_feed(popular.db, popular.feed, NOW), fill_deferred(popular.db, popular.alice.id))
    await fill_deferred(popular.db, popular.alice.id)

    assert await popular.db.query(select(unread)) == []
    assert await popular.db.query(select(deferred_entries)) == []


async def test_a_refresh_can_fill_the_lists_of_some_subscribers(popular: PopularFeed) -> None:
    await popular.publish("a", "b")
    [mine] = await subscriptions_of(popular.db, popular.alice.id)

    await popular.db.batch(steps_to_fill_subscriptions(popular.feed, [mine.id]))
    await fill_deferred(popular.db, popular.alice.id)

    assert await popular.unread(popular.alice) == (2, 2)
    assert await popular.unread(popular.bob) == (0, 0)


async def test_a_merge_can_fill_the_lists_of_all_subscribers(popular: PopularFeed) -> None:
    await popular.publish("a", "b")
    await fill_deferred(popular.db, popular.alice.id)
    await popular.publish("c")

    await popular.db.batch(steps_to_fill_all(popular.feed))
    await fill_deferred(popular.db, popular.bob.id)

    assert await popular.unread(popular.alice) == await popular.unread(popular.bob) == (3, 3)
    assert await popular.db.query(select(deferred_entries)) == []


async def test_the_lists_of_all_subscribers_are_filled_in_chunks(
    popular: PopularFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filling, "CHUNK_SIZE", 4)
    charlie = await popular.library.person("charlie")
    await popular.library.subscribe(charlie, popular.feed)
    await popular.publish("a", "b")
    counted = FailingDatabase(popular.db, fails_at=0, after=False)

    await fill_subscribers(counted, popular.feed)  # type: ignore[arg-type]

    assert counted.batches == 2
    for reader in (popular.alice, popular.bob, charlie):
        assert await popular.unread(reader) == (2, 2)


async def test_a_merge_has_filled_long_lists_before_its_batch(popular: PopularFeed) -> None:
    target = await popular.library.feed("target")
    await popular.publish("a", "b")
    merge = Merge(popular.feed, "https://popular.example.org/", target, "https://target.example.org/")
    failing = Step(subscriptions.update().values(feed_id=None))

    with pytest.raises(ConstraintViolated):
        await merge_feeds(popular.db, merge, NOW, [failing])

    assert await popular.unread(popular.alice) == await popular.unread(popular.bob) == (2, 2)


async def test_what_comes_again_is_unread_for_nobody_whether_lists_are_filled_or_not(popular: PopularFeed) -> None:
    await popular.publish("again", "new")
    await fill_deferred(popular.db, popular.alice.id)

    await popular.db.batch(steps_to_drop_deferred(popular.feed, ["again"]))
    await fill_deferred(popular.db, popular.bob.id)

    assert await popular.unread(popular.alice) == await popular.unread(popular.bob) == (1, 1)


async def test_a_feed_is_popular_above_a_number_of_subscribers(
    popular: PopularFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deferring, "POPULAR_ABOVE", 2)
    assert not await is_popular(popular.db, popular.feed)

    await popular.library.subscribe(await popular.library.person("charlie"), popular.feed)

    assert await is_popular(popular.db, popular.feed)


# --- failing -------------------------------------------------------------------------------------------------


class Killed(BaseException):
    """The process is gone."""


@dataclass
class FailingDatabase:
    """A database that fails before its nth batch, or right after it."""

    inner: Database
    fails_at: int
    after: bool
    error: BaseException = field(default_factory=Killed)
    batches: int = 0
    steps: list[Step] = field(default_factory=list)

    async def query(self, statement: Any, params: Params | None = None) -> list[Row]:
        return await self.inner.query(statement, params or {})

    async def batch(self, steps: list[Step]) -> list[int]:
        self.batches += 1
        self.steps += steps
        if self.batches == self.fails_at and not self.after:
            raise self.error
        done = await self.inner.batch(steps)
        if self.batches == self.fails_at:
            raise self.error
        return done


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("fails_at", [1, 2, 3])
async def test_a_process_that_is_killed_adds_no_row_twice(
    popular: PopularFeed, monkeypatch: pytest.MonkeyPatch, fails_at: int, after: bool
) -> None:
    monkeypatch.setattr(filling, "CHUNK_SIZE", 2)
    await popular.publish("a", "b", "c", "d", "e")

    with pytest.raises(Killed):
        await fill_deferred(FailingDatabase(popular.db, fails_at, after), popular.alice.id)  # type: ignore[arg-type]
    await fill_deferred(popular.db, popular.alice.id)

    assert await popular.unread(popular.alice) == (5, 5)


@pytest.mark.parametrize("error", [DatabaseUnavailable("the disk is full"), StatementRefused("a conflict")])
@pytest.mark.parametrize("fill", [fill_deferred, fill_first_deferred])
async def test_a_list_can_be_read_while_the_database_takes_no_writes(
    popular: PopularFeed, fill: Callable[[Database, int], Awaitable[None]], error: DatabaseError
) -> None:
    await popular.publish("a")
    full = FailingDatabase(popular.db, 1, after=False, error=error)

    await fill(full, popular.alice.id)  # type: ignore[arg-type]

    assert await popular.unread(popular.alice) == (0, 0)
    await fill_deferred(popular.db, popular.alice.id)
    assert await popular.unread(popular.alice) == (1, 1)


async def test_who_needs_the_whole_list_is_told_that_it_could_not_be_filled(popular: PopularFeed) -> None:
    await popular.publish("a")
    full = FailingDatabase(popular.db, 1, after=False, error=DatabaseUnavailable("the disk is full"))

    with pytest.raises(DatabaseUnavailable):
        await fill_deferred_or_fail(full, popular.alice.id)  # type: ignore[arg-type]


async def test_not_all_is_marked_read_while_the_list_can_not_be_filled(
    popular: PopularFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filling, "CHUNK_SIZE", 2)
    await popular.publish("a", "b", "c", "d", "e")
    failing: Any = FailingDatabase(popular.db, 2, after=False, error=DatabaseUnavailable("the disk is full"))

    with pytest.raises(DatabaseUnavailable):
        await mark_all_read(failing, popular.alice.id, MarkAllRead(), NOW)
    await mark_all_read(popular.db, popular.alice.id, MarkAllRead(), NOW)

    await fill_deferred(popular.db, popular.alice.id)
    assert await popular.unread(popular.alice) == (0, 0)


# --- requests ------------------------------------------------------------------------------------------------


async def test_a_request_waits_for_one_chunk_and_the_rest_is_added_behind_it(
    popular: PopularFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filling, "CHUNK_SIZE", 1)
    await popular.publish(*map(str, range(20)))

    await fill_first_deferred(popular.db, popular.alice.id)
    first = await popular.unread(popular.alice)
    await fill_deferred(popular.db, popular.alice.id)

    assert 1 <= first[0] < 20
    assert await popular.unread(popular.alice) == (20, 20)


async def test_requests_of_one_reader_fill_the_list_once_at_a_time(
    popular: PopularFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filling, "CHUNK_SIZE", 2)
    await popular.publish("a", "b", "c", "d", "e")
    counted = FailingDatabase(popular.db, fails_at=0, after=False)

    requests = [fill_deferred(counted, popular.alice.id) for _ in range(5)]  # type: ignore[arg-type]
    await asyncio.gather(*requests)

    assert counted.batches == 3
    assert await popular.unread(popular.alice) == (5, 5)


async def test_a_reader_whose_list_is_being_filled_leaves_connections_to_others(
    request: pytest.FixtureRequest, postgres_service: Service, tmp_path: Path
) -> None:
    async with emptied(request, "postgresql", tmp_path) as db, small_pool(postgres_service.url) as pool:
        popular = await PopularFeed.of(db)
        await popular.publish("a")
        await fill_deferred(db, popular.bob.id)
        alices, _ = await begin_session(db, popular.alice, ORIGIN, NOW)
        bobs, _ = await begin_session(db, popular.bob, ORIGIN, NOW)

        async with locked_subscriptions(postgres_service.url):
            waiting = [asyncio.create_task(caller_of_cookie(pool, alices, NOW)) for _ in range(5)]
            await until(lambda: len(filling._running) == 1)
            async with asyncio.timeout(LONGEST_WAIT):
                bob = await caller_of_cookie(pool, bobs, NOW)
            are_waiting = not any(request.done() for request in waiting)

        await asyncio.gather(*waiting)
        assert (are_waiting, bob is not None and bob.user.id) == (True, popular.bob.id)
        assert await popular.unread(popular.alice) == (1, 1)


@asynccontextmanager
async def small_pool(url: str) -> AsyncIterator[PostgresDatabase]:
    """A database with two connections."""
    pool = PostgresDatabase(url, pool_size=2)
    yield pool
    await pool.close()


@asynccontextmanager
async def locked_subscriptions(url: str) -> AsyncIterator[None]:
    """Nothing can change a subscription meanwhile."""
    other = await asyncpg.connect(url)
    async with other.transaction():
        await other.execute("SELECT id FROM subscriptions FOR UPDATE")
        yield
    await other.close()


async def test_an_image_is_served_without_filling_the_list(popular: PopularFeed) -> None:
    await popular.publish("a")
    token, _ = await begin_session(popular.db, popular.alice, ORIGIN, NOW)

    found = await caller_of_cookie(popular.db, token, NOW, reads_lists=False)

    assert found is not None
    assert await popular.unread(popular.alice) == (0, 0)


async def test_everything_is_marked_read_while_the_list_is_being_filled(
    popular: PopularFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filling, "CHUNK_SIZE", 1)
    await popular.publish(*map(str, range(20)))
    await fill_first_deferred(popular.db, popular.alice.id)

    await mark_all_read(popular.db, popular.alice.id, MarkAllRead(), NOW)

    await fill_deferred(popular.db, popular.alice.id)
    assert await popular.unread(popular.alice) == (0, 0)
