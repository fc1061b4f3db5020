"""Benchmarks a feed with very many subscribers: a refresh with two new entries, and what its readers wait for.

    python bench/popular_feed.py [--subscribers 100000] [--feeds 100] [--rounds 3] [--databases sqlite,postgresql]

Refreshes that write the unread rows of every subscriber take turns with refreshes that defer them, on the same data.
Each is a whole refresh with webhooks, filters and stories. The reader has 100 ordinary feeds besides; half of its
requests come right after a refresh and fill its unread list.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from os import sysconf
from pathlib import Path
from statistics import median
from typing import Any, cast

import uvloop
from library_load import DATABASES, NOW, database_folder
from report import Cell, Table, report_table
from sqlalchemy import func, select, text

from feedmill.archive.files import FolderBlobs
from feedmill.collect.discovery.discover import FetchedFeed
from feedmill.collect.parsing.parse_off_loop import parse_off_loop
from feedmill.collect.refresh import RefreshTools, RefreshWriters, refresh_feed
from feedmill.library.entries.list_entries import EntryListQuery, list_entries
from feedmill.library.entries.unread_counts import unread_counts_of_user
from feedmill.library.filters.filter_new_entries import filter_writes
from feedmill.library.outbound_tools import OutboundTools
from feedmill.library.stories.join_new_entries import story_writes
from feedmill.library.webhooks.service import Webhooks
from feedmill.model.fetch_outcome import Freshness, Response, Validators
from feedmill.model.timestamps import to_iso
from feedmill.model.webhook import WebhookEvent
from feedmill.store.chunks import chunked
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.entries import deferred_entries
from feedmill.store.entries.fill_deferred_entries import fill_deferred
from feedmill.store.feeds.add_feeds import NewFeed, add_feeds
from feedmill.store.feeds.claims import claim_feeds
from feedmill.store.migrations import migrate
from feedmill.store.schema import feeds, subscriptions, unread, unread_lists, users
from feedmill.store.webhooks.webhooks import add_webhook

POPULAR = "https://popular.example.org/feed"
NEW_ENTRIES = 2
READERS = 200
CHUNK = 10_000
MODES = {"rows at refresh": 10**9, "deferred": deferred_entries.POPULAR_ABOVE}
TICK = 1000 / sysconf("SC_CLK_TCK")
SUBSCRIPTION = insert(subscriptions, "user_id", "feed_id", "created_at")


@dataclass
class Bench:
    """A database with its feeds; times in milliseconds by what was measured and how the refresh wrote."""

    db: Database
    folder: Path
    server_pid: int | None
    feed_ids: list[int] = field(default_factory=list)
    figures: dict[str, dict[str, list[float]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    refreshes: int = 0

    def __post_init__(self) -> None:
        db = self.db
        webhooks = Webhooks(OutboundTools(db, cast(Any, None)))
        writers = RefreshWriters(
            webhooks=webhooks.webhook_writes, filters=partial(filter_writes, db), stories=partial(story_writes, db)
        )
        blobs = FolderBlobs(self.folder / "objects")
        self.tools = RefreshTools(db, blobs, cast(Any, None), clock=self.now, writers=writers)

    def now(self) -> Any:
        return NOW + timedelta(hours=self.refreshes)

    async def load(self, subscribers: int, feed_count: int) -> None:
        db, at = self.db, to_iso(NOW)
        await migrate(db)
        urls = [POPULAR, *(f"https://example.org/{n}" for n in range(feed_count))]
        await add_feeds(db, [NewFeed(url) for url in urls], NOW, NOW)
        self.feed_ids = [row["id"] for row in await db.query(select(feeds.c.id).order_by(feeds.c.id))]
        people = insert(users, "id", "name", "unread_list_id", "created_at")
        lists = insert(unread_lists, "id", "user_id", "created_at")
        for ids in chunked(range(1, subscribers + 1), CHUNK):
            rows = [{"id": id, "name": f"user {id}", "unread_list_id": id, "created_at": at} for id in ids]
            await db.batch(
                [Step(people, rows), Step(lists, [{"id": id, "user_id": id, "created_at": at} for id in ids])]
            )
            own = [{"user_id": id, "feed_id": self.feed_ids[0], "created_at": at} for id in ids]
            await db.batch([Step(SUBSCRIPTION, own)])
        ordinary = [{"user_id": 1, "feed_id": id, "created_at": at} for id in self.feed_ids[1:]]
        await db.batch([Step(SUBSCRIPTION, ordinary)])
        await add_webhook(db, 2, "https://example.org/hook", "s" * 32, [WebhookEvent.NEW_ENTRIES], NOW)
        for place in range(1, feed_count + 1):
            await self.refresh(place)
        await self.refresh(0)
        await db.exec("ANALYZE")

    async def refresh(self, place: int) -> None:
        """Refreshes the feed at this place with new entries."""
        self.refreshes += 1
        response = _response(POPULAR if place == 0 else f"https://example.org/{place - 1}", self.refreshes, self.now())
        parsed = await parse_off_loop(response.body, content_type=response.content_type, url=response.final_url)
        [claim] = await claim_feeds(self.db, [self.feed_ids[place]], self.now())
        await refresh_feed(self.tools, claim, prefetched=FetchedFeed(response.url, response, parsed))

    async def rows(self) -> int:
        [row] = await self.db.query(select(func.count().label("n")).select_from(unread))
        return int(row["n"])

    async def wal(self) -> int:
        """What has been written ahead so far, in bytes; SQLite's log begins anew in `empty_wal`."""
        if self.server_pid is None:
            file = self.folder / "library.db-wal"
            return file.stat().st_size if file.exists() else 0
        [row] = await self.db.query(text("SELECT pg_current_wal_lsn() - '0/0' AS bytes"))
        return int(row["bytes"])

    async def empty_wal(self) -> None:
        await self.db.exec("CHECKPOINT" if self.server_pid else "PRAGMA wal_checkpoint(TRUNCATE)")

    def cpu(self) -> float:
        """Milliseconds of this process and of the database server."""
        return time.process_time() * 1000 + (_cpu_of_family(self.server_pid) if self.server_pid else 0)

    async def measure(self, what: str, mode: str, work: Callable[[], Awaitable[object]], *, times: int = 1) -> None:
        cpu, wall = self.cpu(), time.perf_counter()
        await work()
        self.figures[f"{what}, ms"][mode].append((time.perf_counter() - wall) * 1000 / times)
        self.figures[f"{what}, ms of CPU"][mode].append((self.cpu() - cpu) / times)

    async def one_round(self, mode: str) -> None:
        with _popular_above(MODES[mode]):
            await self.empty_wal()
            rows, wal = await self.rows(), await self.wal()
            await self.measure("refresh", mode, lambda: self.refresh(0))
            self.figures["refresh, kB written ahead"][mode].append((await self.wal() - wal) / 1000)
            self.figures["refresh, unread rows"][mode].append(await self.rows() - rows)
            await self.measure("first counts and list", mode, lambda: self.read([1]))
            await self.measure("next counts and list", mode, lambda: self.read([1] * 20), times=20)
            done = len(self.figures["first of others, ms"]["deferred"]) * READERS
            others = range(3 + done, 3 + done + READERS)
            await self.measure("first of others", mode, lambda: self.read(others), times=READERS)

    async def read(self, user_ids: Any) -> None:
        """What a request for the list does."""
        for user_id in user_ids:
            await fill_deferred(self.db, user_id)
            await unread_counts_of_user(self.db, user_id)
            await list_entries(self.db, user_id, EntryListQuery(), self.now())

    def table(self, name: str, subscribers: int) -> Table:
        rows: list[list[Cell]] = [
            [what, *(median(by_mode[mode]) for mode in MODES)] for what, by_mode in self.figures.items()
        ]
        title = f"{name}: a feed with {subscribers:,} subscribers, a refresh with {NEW_ENTRIES} new entries"
        return Table(title, ["", *MODES], rows)


@contextmanager
def _popular_above(number: int) -> Any:
    usual = deferred_entries.POPULAR_ABOVE
    deferred_entries.POPULAR_ABOVE = number
    try:
        yield
    finally:
        deferred_entries.POPULAR_ABOVE = usual


def _response(url: str, number: int, now: datetime) -> Response:
    items = "".join(
        f"<item><guid>{url}/{each}</guid><title>Entry {each}</title><link>{url}/{each}</link>"
        f"<description>What entry {each} says of {url} and of nothing else, in a few words.</description></item>"
        for each in range(number * NEW_ENTRIES, (number - 5) * NEW_ENTRIES, -1)
    )
    head = f"<title>{url}</title><link>{url}</link><description>d</description>"
    body = f'<?xml version="1.0"?><rss version="2.0"><channel>{head}{items}</channel></rss>'.encode()
    return Response(
        url,
        url,
        200,
        {},
        body,
        "application/rss+xml",
        Validators(),
        Freshness(),
        None,
        True,
        len(body),
        now,
        timedelta(),
    )


def _cpu_of_family(pid: int) -> float:
    """Milliseconds of a process and its children, those that have ended included."""
    total = 0.0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            values = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if stat.parent.name == str(pid):
            total += sum(map(int, values[11:15])) * TICK
        elif int(values[1]) == pid:
            total += sum(map(int, values[11:13])) * TICK
    return total


def _server_pid(folder: Path) -> int | None:
    file = folder / "data" / "postmaster.pid"
    return int(file.read_text().split()[0]) if file.exists() else None


async def main(arguments: argparse.Namespace) -> None:
    for name in arguments.databases.split(","):
        with database_folder("popular", None) as folder, DATABASES[name](folder) as db:
            bench = Bench(db, folder, _server_pid(folder))
            await bench.load(arguments.subscribers, arguments.feeds)
            for _ in range(arguments.rounds):
                for mode in MODES:
                    await bench.one_round(mode)
            report_table(bench.table(name, arguments.subscribers))
            await db.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subscribers", type=int, default=100_000)
    parser.add_argument("--feeds", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--databases", default="sqlite,postgresql")
    uvloop.run(main(parser.parse_args()))
