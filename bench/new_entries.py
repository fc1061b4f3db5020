"""Benchmarks what PostgreSQL does to store a new feed of 30 entries, by statement.

    python bench/new_entries.py [--feeds 100] [--before 100] [--subscribers 5]

Every feed is stored by the batch of a refresh, with the steps of stories. Of each step the CPU time of the server's
process and the mean WAL are given; "end of the transaction" is what its begin and commit add. The mean includes the
feeds with which the pending list of the word index was full. `--before` feeds are
stored first, so that the indexes have rows. The texts have 220 different words, a fifth of them rare.
"""

import argparse
import random
import time
from collections.abc import Sequence
from datetime import timedelta
from functools import lru_cache
from itertools import accumulate
from secrets import token_hex
from statistics import fmean, median
from typing import Any

import uvloop
from library_load import NOW
from report import Cell, Table, report_table
from sqlalchemy import select, text
from sqlalchemy.sql import Executable
from story_index import CpuClock

from feedmill.i18n.messages import Message
from feedmill.library.stories.join_new_entries import story_writes
from feedmill.model.feed import Claim, Feed
from feedmill.model.refresh import EntryDiff, FeedMetadata, FeedMove, FetchStats, NewEntry, Schedule, Updated
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Params, Step
from feedmill.store.dialect import insert
from feedmill.store.drivers.postgres import PostgresDatabase
from feedmill.store.feeds import record_refresh
from feedmill.store.feeds.add_feeds import NewFeed, add_feeds
from feedmill.store.feeds.read_feeds import feeds_of_ids
from feedmill.store.migrations import migrate
from feedmill.store.schema import feeds, subscriptions
from feedmill.store.search.index import tokenize_entry
from feedmill.store.users.users import add_user
from tests.services.postgres import own_postgres

ENTRIES = 30
VOCABULARY = 30_000
WRITTEN = text("SELECT pg_current_wal_insert_lsn() - CAST('0/0' AS pg_lsn) AS bytes")
END = "end of the transaction"


class MeasuredDatabase(PostgresDatabase):
    """Notes the CPU time of the server's process, in milliseconds, and the WAL of each step, by its table."""

    def __init__(self, url: str) -> None:
        super().__init__(url, pool_size=1)
        self.clock = CpuClock([])
        self.costs: dict[str, tuple[float, float]] = {}
        # What the questions for the WAL take, which is no part of a refresh.
        self.measuring = 0.0

    async def _run_step(self, connection: Any, statement: Executable, params: Params | Sequence[Params]) -> int:
        before = self.clock().server
        written, started = await self.written(connection), self.clock().server
        changed = await super()._run_step(connection, statement, params)
        ended = self.clock().server
        self.note(_name(self._compile(statement).sql), ended - started, await self.written(connection) - written)
        self.measuring += started - before + self.clock().server - ended
        return changed

    async def written(self, connection: Any) -> float:
        return float(await connection.fetchval(self._compile(WRITTEN).sql))

    def note(self, name: str, spent: float, written: float) -> None:
        before = self.costs.get(name, (0, 0))
        self.costs[name] = before[0] + spent, before[1] + written


def _name(sql: str) -> str:
    words = sql.split()
    return words[words.index("INTO") + 1] if "INTO" in words else words[1]


# --- feeds -------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def vocabulary() -> tuple[list[str], list[float]]:
    """Words, and how often each is used: as in a language, a few make up half of a text."""
    letters = random.Random(1)
    words = ["".join(letters.choices("aeiounrtsl" * 2 + "bcdfghkmpvwyz", k=2 + n % 7)) for n in range(VOCABULARY)]
    return words, list(accumulate(1 / (rank + 2.7) for rank in range(VOCABULARY)))


def new_entry(number: int) -> NewEntry:
    chance = random.Random(number)
    words, weights = vocabulary()
    at = NOW + timedelta(seconds=number % 100_000)
    content = " ".join(chance.choices(words, cum_weights=weights, k=300))
    return NewEntry(
        guid=f"https://example.org/post/{number}",
        digest=f"{number:064}",
        sort_at=at,
        published_at=at,
        updated_at=None,
        link=f"https://example.org/post/{number}",
        title=" ".join(chance.choices(words, cum_weights=weights, k=8)),
        author="A. Writer",
        summary=None,
        content_html=f"<p>{content}</p>",
        base_url=None,
        language="en",
        image_url=None,
        comments_url=None,
        categories=(),
        enclosures=(),
        images=(f"https://example.org/image/{number}.jpg",) if number % 3 == 0 else (),
    )


def decision(new: Sequence[NewEntry]) -> Updated:
    return Updated(
        stats=FetchStats(NOW, timedelta(), http_status=200, bytes=65_000),
        schedule=Schedule(NOW, Message("schedule.subscribed")),
        changes=EntryDiff(tuple(new), words={entry.guid: tokenize_entry(entry) for entry in new}),
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


# --- measuring ---------------------------------------------------------------------------------------------


async def store(db: MeasuredDatabase, feed: Feed, number: int) -> dict[str, tuple[float, float]]:
    """Stores a new feed; what each step cost."""
    token = token_hex(16)
    claimed = feeds.update().where(feeds.c.id == feed.id).values(claim_token=token, claimed_until=to_iso(NOW))
    await db.batch([Step(claimed, {})])
    claim, new = Claim(feed, token), decision([new_entry(number * ENTRIES + place) for place in range(ENTRIES)])
    extra = await story_writes(db, claim, new)
    db.costs, db.measuring = {}, 0
    [before] = await db.query(WRITTEN)
    started = db.clock().server
    await record_refresh.record_refresh(db, claim, new, extra)
    spent = db.clock().server - started - db.measuring
    [after] = await db.query(WRITTEN)
    steps = db.costs
    rest = spent - sum(cost for cost, _ in steps.values())
    return steps | {END: (rest, float(after["bytes"] - before["bytes"]) - sum(wal for _, wal in steps.values()))}


async def measure(db: MeasuredDatabase, arguments: argparse.Namespace) -> list[list[Cell]]:
    count = arguments.before + arguments.feeds
    await add_feeds(db, [NewFeed(f"https://example.org/{n}") for n in range(count)], NOW, NOW)
    ids = [row["id"] for row in await db.query(select(feeds.c.id).order_by(feeds.c.id))]
    for number in range(arguments.subscribers):
        user = await add_user(db, f"user {number}", None, False, NOW)
        rows = [{"user_id": user.id, "feed_id": feed_id, "created_at": to_iso(NOW)} for feed_id in ids]
        await db.batch([Step(insert(subscriptions, "user_id", "feed_id", "created_at"), rows)])
    targets = await feeds_of_ids(db, ids)
    db.clock = await CpuClock.of(db)
    costs = [await store(db, feed, number) for number, feed in enumerate(targets)][arguments.before :]
    names = list(costs[-1])
    rows = {name: [cost.get(name, (0, 0)) for cost in costs] for name in names}
    rows["all"] = [(sum(cpu for cpu, _ in cost.values()), sum(wal for _, wal in cost.values())) for cost in costs]
    return [[name, *_typical([cpu for cpu, _ in each]), fmean(wal for _, wal in each)] for name, each in rows.items()]


def _typical(values: Sequence[float]) -> tuple[float, float]:
    return median(values), fmean(values)


async def main(arguments: argparse.Namespace) -> None:
    with own_postgres() as server:
        db = MeasuredDatabase(server.service.url)
        await migrate(db)
        started = time.monotonic()
        rows = await measure(db, arguments)
        title = f"PostgreSQL: a new feed of {ENTRIES} entries, {arguments.subscribers} subscribers"
        note = f"After {arguments.before} feeds; {time.monotonic() - started:.0f} s."
        report_table(Table(title, ["", "CPU ms, median", "mean", "WAL bytes"], rows, notes=[note]))
        await db.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--feeds", type=int, default=100)
    parser.add_argument("--before", type=int, default=100)
    parser.add_argument("--subscribers", type=int, default=5)
    uvloop.run(main(parser.parse_args()))
