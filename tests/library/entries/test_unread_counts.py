"""In any order of events the unread counts equal the length of the list, and the list is correct."""

import asyncio
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from feedmill.library.entries.list_entries import EntryListQuery, list_entries
from feedmill.library.entries.marks import apply_marks, undo_mark_all_read
from feedmill.model.entry_lists import EntryScope
from feedmill.model.entry_marks import EntryMarks, MarkAllRead
from feedmill.model.user import User
from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.entries.mark_all_read import mark_unread_as_read
from feedmill.store.subscriptions.unread_entries import steps_to_drop_subscription, steps_to_fill_unread
from tests.examples import examples
from tests.library.small_library import NOW, SmallLibrary
from tests.sqlite_template import copy_template

FEEDS = 2
places = st.integers(0, 10**6)


class Reading(RuleBasedStateMachine):
    """A model to compare with: which entries are unread, and what each undo would restore."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.loop = asyncio.new_event_loop()
        self.path = Path(self.folder.name) / "feedmill.db"
        self.db = SqliteDatabase(self.path)
        self.library = SmallLibrary(self.db)
        self.now = NOW
        self.feeds: list[int] = []
        self.subscribed: dict[int, int] = {}
        self.feed_of: dict[int, int] = {}
        self.unread: set[int] = set()
        self.read_by_itself: set[int] = set()
        self.undos: list[tuple[str, set[int]]] = []

    @initialize()
    def open(self) -> None:
        self.loop.run_until_complete(self._open())

    async def _open(self) -> None:
        await copy_template(self.path)
        self.user: User = await self.library.person()
        self.feeds = [await self.library.feed(f"f{number}") for number in range(FEEDS)]
        for feed in self.feeds:
            self.subscribed[feed] = await self.library.subscribe(self.user, feed)

    @rule(place=places, count=st.integers(1, 3), days=st.integers(0, 20))
    def arrive(self, place: int, count: int, days: int) -> None:
        feed = self.feeds[place % FEEDS]
        titles = [f"{len(self.feed_of)} {number}" for number in range(count)]
        at = NOW - timedelta(days=days)
        ids = self.loop.run_until_complete(self.library.arrive(feed, *titles, at=at))
        self.feed_of |= dict.fromkeys(ids, feed)
        if feed in self.subscribed:
            self.unread |= set(ids)

    @precondition(lambda self: self.feed_of)
    @rule(chosen=st.lists(places, min_size=1, max_size=5), read=st.booleans())
    def mark(self, chosen: list[int], read: bool) -> None:
        known = sorted(self.feed_of)
        ids = {known[place % len(known)] for place in chosen}
        self.loop.run_until_complete(
            apply_marks(self.db, self.user.id, sorted(ids), EntryMarks(read=read), self._later())
        )
        ids = {id for id in ids if self.feed_of[id] in self.subscribed}
        if read:
            self.unread -= ids
            self.read_by_itself |= ids
            self.undos = [(token, brought - ids) for token, brought in self.undos]
        else:
            self.unread |= ids
            self.read_by_itself -= ids

    @rule(place=st.none() | places, up_to=st.none() | places)
    def sweep(self, place: int | None, up_to: int | None) -> None:
        feed = None if place is None else self.feeds[place % FEEDS]
        if feed is not None and feed not in self.subscribed:
            return
        scope = EntryScope(None if feed is None else (self.subscribed[feed],))
        last = None if up_to is None else up_to % (max(self.feed_of, default=0) + 1)
        swept = self.loop.run_until_complete(
            mark_unread_as_read(self.db, self.user.id, MarkAllRead(scope, None, last), self._later())
        )
        marked = {id for id in self.unread if feed in (None, self.feed_of[id]) and (last is None or id <= last)}
        assert swept.marked == len(marked)
        self.unread -= marked
        self.undos.append((swept.undo, marked))

    @precondition(lambda self: self.undos)
    @rule(place=places)
    def undo(self, place: int) -> None:
        token, brought = self.undos.pop(place % len(self.undos))
        self.loop.run_until_complete(undo_mark_all_read(self.db, self.user.id, token, self._later()))
        self.unread |= brought

    @rule(place=places)
    def unsubscribe_or_subscribe(self, place: int) -> None:
        feed = self.feeds[place % FEEDS]
        if feed in self.subscribed:
            self._unsubscribe(feed)
        else:
            self._subscribe(feed)

    def _unsubscribe(self, feed: int) -> None:
        steps = steps_to_drop_subscription(self.user.id, self.subscribed.pop(feed))
        self.loop.run_until_complete(self.db.batch(steps))
        gone = {id for id, of in self.feed_of.items() if of == feed}
        self.unread -= gone
        self.undos = [(token, brought - gone) for token, brought in self.undos]

    def _subscribe(self, feed: int) -> None:
        self.subscribed[feed] = self.loop.run_until_complete(self.library.subscribe(self.user, feed))
        self.loop.run_until_complete(self.db.batch(steps_to_fill_unread(self.user.id, feed, newest=1000)))
        self.unread |= {id for id, of in self.feed_of.items() if of == feed and id not in self.read_by_itself}

    @invariant()
    def the_list_and_its_counts_are_right(self) -> None:
        if not self.feeds:
            return
        page = self.loop.run_until_complete(list_entries(self.db, self.user.id, EntryListQuery(most=1000), NOW))
        assert {item.id for item in page.items} == self.unread
        assert self.loop.run_until_complete(self.library.unread_of(self.user)) == (len(self.unread), len(self.unread))

    def teardown(self) -> None:
        self.loop.run_until_complete(self.db.close())
        self.loop.close()
        self.folder.cleanup()

    def _later(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


TestReading = Reading.TestCase
TestReading.settings = settings(max_examples=examples(25), stateful_step_count=25)
