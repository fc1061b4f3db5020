"""Benchmarks what stories add to a refresh, to lists and to marks, with a million entries in the index.

    python bench/story_index.py [--entries 1000000] [--feeds 1000] [--databases sqlite,postgresql] [--keep FOLDER]

Every entry of the library is in the story index, and a tenth of them in stories of two. Of a refresh CPU time is
measured, of this process and of the database server: of the batch that stores new entries, and of what their stories
add. A fifth of the new entries are the same articles as entries of another feed. Lists and marks are measured in
milliseconds, with each story once and with every entry.
"""

import argparse
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import count, pairwise
from pathlib import Path
from secrets import token_hex
from statistics import median, quantiles
from typing import Any, NamedTuple

import uvloop
from library_load import DATABASES, NOW, USERS, WORDS, database_folder, load_once, reader
from report import Cell, Table, report_table
from sqlalchemy import func, select, text

from feedmill.collect.stories.sign_entry import sign_entries, sign_entry
from feedmill.collect.stories.sketch import LINK_KEY, TEXT_KEY, TITLE_KEY
from feedmill.i18n.messages import Message
from feedmill.library.entries.list_entries import EntryListQuery, list_entries
from feedmill.library.stories.also_in import copies_of_entries
from feedmill.library.stories.join_new_entries import story_writes
from feedmill.model.entry_lists import ALL_ENTRIES, EntryScope, EntryView
from feedmill.model.entry_marks import MarkAllRead
from feedmill.model.feed import Claim, Feed
from feedmill.model.refresh import EntryDiff, FeedMetadata, FeedMove, FetchStats, NewEntry, Schedule, Updated
from feedmill.model.timestamps import to_iso
from feedmill.model.user import User
from feedmill.store.chunks import chunked
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.entries.add_entries import steps_to_add_entries
from feedmill.store.entries.mark_all_read import mark_unread_as_read
from feedmill.store.entries.undo_mark_all_read import restore_retired_list
from feedmill.store.feeds.read_feeds import feeds_of_ids
from feedmill.store.schema import entries, feeds, story_entries, story_keys, story_sketches
from feedmill.store.search.index import tokenize_entry

NEW_AT_ONCE = 20
ROUNDS = 60
FOLDER = 100
# Milliseconds; what takes less has no ratio.
MEASURABLE = 0.05
# Of the keys of an entry: a link, a title, two of the text.
KINDS = (LINK_KEY, TITLE_KEY, TEXT_KEY, TEXT_KEY)
SKETCHES = 200
CHUNK = 5000
BACKENDS = text(
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'"
)
_random = random.Random(1)


# --- loading -----------------------------------------------------------------------------------------------


async def index_once(db: Database, folder: Path) -> None:
    """Fills the story index, unless an earlier run did."""
    done = folder / "indexed"
    if done.exists():
        return
    sketches = [sign_entry(article(number)).sketch for number in range(SKETCHES)]
    rows = await db.query(select(entries.c.id, entries.c.feed_id, entries.c.sort_at).order_by(entries.c.id))
    for chunk in chunked(rows, CHUNK):
        sketched = [
            {
                "entry_id": row["id"],
                "feed_id": row["feed_id"],
                "at": row["sort_at"],
                "sketch": sketches[row["id"] % SKETCHES],
            }
            for row in chunk
        ]
        keys = [{"story_key": kind | _random.getrandbits(48), "entry_id": row["id"]} for row in chunk for kind in KINDS]
        pairs = [
            {"entry_id": row["id"], "story_id": row["id"] - row["id"] % 20} for row in chunk if row["id"] % 20 in (0, 1)
        ]
        await db.batch(
            [
                Step(insert(story_sketches, "entry_id", "feed_id", "at", "sketch"), sketched),
                Step(insert(story_keys, "story_key", "entry_id"), keys),
                Step(insert(story_entries, "entry_id", "story_id"), pairs),
            ]
        )
    await db.exec("ANALYZE")
    done.touch()


def article(number: int) -> NewEntry:
    """An article of some three hundred words that no other has."""
    words = random.Random(number)
    text = " ".join(f"{words.choice(WORDS)}{words.randrange(400)}" for _ in range(300))
    at = NOW + timedelta(seconds=number % 10_000)
    return NewEntry(
        guid=f"article {number}",
        digest=f"{number:064}",
        sort_at=at,
        published_at=at,
        updated_at=None,
        link=f"https://example.com/{number}",
        title=f"What the {words.choice(WORDS)} did in the year {number}",
        author="A. Writer",
        summary=None,
        content_html=f"<p>{text}</p>",
        base_url=None,
        language="en",
        image_url=None,
        comments_url=None,
        categories=(),
        enclosures=(),
        images=(),
    )


# --- refreshes ---------------------------------------------------------------------------------------------


class CpuClock:
    """The CPU time of this process, and of those of a PostgreSQL server that answer it, in milliseconds."""

    def __init__(self, backends: Sequence[int]) -> None:
        self._backends = backends

    @classmethod
    async def of(cls, db: Database) -> "CpuClock":
        return cls([row["pid"] for row in await db.query(BACKENDS)] if db.dialect_name == "postgresql" else [])

    def __call__(self) -> "_CpuTime":
        # The clock of another process, as clock_getcpuclockid(3) gives it.
        served = sum(time.clock_gettime(~pid << 3 | 2) for pid in self._backends)
        return _CpuTime(time.process_time() * 1000, served * 1000)


class _CpuTime(NamedTuple):
    client: float
    server: float


async def measure_refreshes(db: Database) -> list[list[Cell]]:
    ids = [row["id"] for row in await db.query(select(feeds.c.id).order_by(feeds.c.id).limit(2 * ROUNDS))]
    targets = await feeds_of_ids(db, ids)
    # Another run in the same folder has other articles.
    numbers = count(int(time.time()) * 10_000)
    # The first one opens the connections.
    await _costs(db, CpuClock([]), targets[0], [article(next(numbers))])
    clock = await CpuClock.of(db)
    costs: list[list[_CpuTime]] = []
    for first, second in zip(targets[::2], targets[1::2], strict=True):
        earlier = [article(next(numbers)) for _ in range(NEW_AT_ONCE)]
        copied = [replace(entry, link=f"{entry.link}/copy") for entry in earlier[: NEW_AT_ONCE // 5]]
        later = [*copied, *(article(next(numbers)) for _ in range(NEW_AT_ONCE - len(copied)))]
        costs += [await _costs(db, clock, feed, new) for feed, new in ((first, earlier), (second, later))]
    steps = [_CpuTime(*map(median, zip(*times, strict=True))) for times in zip(*costs, strict=True)]
    added = _CpuTime(*map(sum, zip(*steps[1:], strict=True)))
    names = ("store a new entry", "sign it", "find its story", "add it to the index and its story", "what stories add")
    return [[name, *each, sum(each)] for name, each in zip(names, [*steps, added], strict=True)]


async def _costs(db: Database, clock: CpuClock, feed: Feed, new: Sequence[NewEntry]) -> list[_CpuTime]:
    """The CPU time of a new entry for each step. Stories are written by a batch of their own, with its own commit."""
    claim, decision = Claim(feed, token_hex(16)), _decision(new)
    words = decision.changes.words
    times = [clock()]
    words.update({entry.guid: tokenize_entry(entry) for entry in new})
    await db.batch(steps_to_add_entries(feed.id, claim.token, new, to_iso(NOW), in_feed=True, words=words))
    times.append(clock())
    sign_entries(new, list(words.values()))
    times.append(clock())
    steps = await story_writes(db, claim, decision)
    times.append(clock())
    await db.batch(steps)
    times.append(clock())
    store, sign, sign_and_find, add = (_difference(*pair, len(new)) for pair in pairwise(times))
    return [store, sign, _difference(sign, sign_and_find), add]


def _difference(start: _CpuTime, end: _CpuTime, entries: int = 1) -> _CpuTime:
    return _CpuTime((end.client - start.client) / entries, (end.server - start.server) / entries)


def _decision(new: Sequence[NewEntry]) -> Updated:
    return Updated(
        stats=FetchStats(NOW, timedelta()),
        schedule=Schedule(NOW, Message("schedule.subscribed")),
        changes=EntryDiff(tuple(new)),
        metadata=FeedMetadata(),
        raw=None,
        entry_count=len(new),
        etag=None,
        last_modified=None,
        body_sha256="",
        last_entry_at=None,
        usual_gap=None,
        polling_hints=None,
        move=FeedMove(),
    )


# --- lists and marks ---------------------------------------------------------------------------------------


class ListBench:
    """Lists and marks of a reader with half of all entries unread."""

    def __init__(self, db: Database, user: User, subscribed: tuple[int, ...]) -> None:
        self.db, self.user, self.subscribed = db, user, subscribed
        self.rows: list[list[Cell]] = []

    async def run(self) -> list[list[Cell]]:
        folder = EntryScope(self.subscribed[:FOLDER])
        await self.lists("a page of unread entries", EntryView.UNREAD, ALL_ENTRIES)
        await self.lists("a page of one feed", EntryView.ALL, EntryScope(self.subscribed[:1]))
        await self.lists(f"unread entries in a folder of {FOLDER} feeds", EntryView.UNREAD, folder)
        await self.lists("a page of that folder", EntryView.ALL, folder)
        await self.lists("a page of all entries", EntryView.ALL, ALL_ENTRIES)
        await self.copies()
        await self.sweep("mark that folder read", MarkAllRead(folder))
        [newest] = await self.db.query(select(func.max(entries.c.id).label("id")))
        await self.sweep("mark all but the newest ten", MarkAllRead(up_to=newest["id"] - 10))
        return self.rows

    async def lists(self, name: str, view: EntryView, scope: EntryScope) -> None:
        wanted = EntryListQuery(view, scope, most=50)
        await self.beside(
            name, lambda once: list_entries(self.db, self.user.id, replace(wanted, stories_once=once), NOW)
        )

    async def copies(self) -> None:
        page = await list_entries(self.db, self.user.id, EntryListQuery(stories_once=True), NOW)
        ids = [entry.id for entry in page.items]
        await self.beside(
            "the other feeds of a page", lambda once: copies_of_entries(self.db, self.user.id, ids if once else [])
        )

    async def beside(self, name: str, work: Callable[[bool], Awaitable[Any]]) -> None:
        times: dict[bool, list[float]] = {True: [], False: []}
        for _ in range(ROUNDS):
            for once in times:
                started = time.perf_counter()
                await work(once)
                times[once].append((time.perf_counter() - started) * 1000)
        once, each = (quantiles(times[kind], n=4)[0] for kind in (True, False))
        self.rows.append([name, once, each, once / each if each > MEASURABLE else ""])

    async def sweep(self, name: str, wanted: MarkAllRead) -> None:
        times: dict[bool, list[float]] = {True: [], False: []}
        for _ in range(3):
            for once in times:
                started = time.perf_counter()
                asked = replace(wanted, whole_stories=once)
                done = await mark_unread_as_read(self.db, self.user.id, asked, NOW)
                times[once].append((time.perf_counter() - started) * 1000)
                await restore_retired_list(self.db, self.user.id, done.undo, NOW)
        once, each = min(times[True]), min(times[False])
        self.rows.append([f"{name} ({done.marked:,})", once, each, once / each])


async def main(arguments: argparse.Namespace) -> None:
    for name in arguments.databases.split(","):
        kept_as = f"{name}-{arguments.entries}-{arguments.feeds}"
        with database_folder(kept_as, arguments.keep) as folder, DATABASES[name](folder) as db:
            await load_once(db, folder, arguments.entries, arguments.feeds)
            await index_once(db, folder)
            title = f"{name}: {arguments.entries:,} entries in the story index, {USERS} subscribers"
            report_table(
                Table(title, ["CPU ms of a new entry", "client", "server", "both"], await measure_refreshes(db))
            )
            lists = await ListBench(db, *await reader(db)).run()
            report_table(Table(title, ["lists and marks", "stories once, ms", "every entry, ms", "ratio"], lists))
            await db.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--feeds", type=int, default=1_000)
    parser.add_argument("--databases", default="sqlite,postgresql")
    parser.add_argument("--keep", type=Path)
    uvloop.run(main(parser.parse_args()))
