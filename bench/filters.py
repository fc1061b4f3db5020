"""Benchmarks filters: a refresh with 100 filters for each subscriber against one without, and trying a filter.

    python bench/filters.py [--entries 1000000] [--databases sqlite,postgresql] [--rounds 10] [--keep FOLDER]

Each refresh brings ten new entries: parsing, comparing, tokenizing and the whole atomic write, without the request. In
alternating rounds the filters are on and off; a filter matches one entry in two thousand, so that those of a subscriber
act on every twentieth. The figures are lower quartiles, in milliseconds for a feed; CPU time is that of our process,
without the database server.

A trial counts all entries that match, by feed, and reads the newest hundred, in a library of so many entries (see
`library.py`). It is compared with the first page of a search for the same. After a second and a half it ends, and says
since when it has counted. CPU time is that of our process: SQLite runs in it, PostgreSQL does not.
"""

import argparse
import logging
import random
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from statistics import quantiles
from typing import Any

import structlog
import uvloop
from library_load import DATABASES, NOW, RARE, RARE_HAN, WORDS, database_folder, load_once, reader
from report import Cell, Table, report_table
from sqlalchemy import func, select

from feedmill.archive.files import FolderBlobs
from feedmill.collect.refresh import RefreshTools, RefreshWriters, refresh_feed
from feedmill.library.filters.filter_new_entries import filter_writes
from feedmill.library.filters.try_filter import try_filter
from feedmill.library.search.run_search import SearchRequest, run_search
from feedmill.library.stories.join_new_entries import story_writes
from feedmill.model.feed import Feed
from feedmill.model.fetch_outcome import FetchOutcome, Freshness, Response, Validators
from feedmill.model.filters.entry_filter import ALL_FEEDS, FilterActions, FilterDraft, FilterKind
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.feeds.claims import claim_feeds
from feedmill.store.filters.filters import add_filter, step_to_set_version
from feedmill.store.migrations import migrate
from feedmill.store.schema import filters, subscriptions
from feedmill.store.users.users import add_user

FILTERS, FEEDS, NEW = 100, 20, 10
# How many subscribers a feed has, and the rank of the words of their filters: the rarer, the fewer entries match.
CASES = {
    "1 subscriber, no match": (1, 9_000_000),
    "1 subscriber": (1, 60_000),
    "5 subscribers, no match": (5, 9_000_000),
    "5 subscribers": (5, 60_000),
}
LENGTH = 400
VOCABULARY = 400_000
ACTIONS = (FilterActions(star=True), FilterActions(read=True), FilterActions(hide=True), FilterActions(later=True))


@dataclass
class Articles:
    """Serves feeds with new articles at every request, of words by a law like that of a language."""

    chance: random.Random = field(default_factory=lambda: random.Random(7))
    number: int = 0

    bodies: list[bytes] = field(default_factory=list)

    def write(self, count: int) -> None:
        """Writes so many feeds, ahead of the requests for them."""
        self.bodies = [self._feed() for _ in range(count)]

    def _feed(self) -> bytes:
        items = "".join(self._item() for _ in range(NEW))
        return f"<rss version='2.0'><channel><title>Feed</title>{items}</channel></rss>".encode()

    async def get(self, url: str, *more: Any, **options: Any) -> FetchOutcome:
        body = self.bodies.pop()
        return Response(
            url=url,
            final_url=url,
            status=200,
            headers={},
            body=body,
            content_type="application/rss+xml",
            validators=Validators(None, None),
            freshness=Freshness(),
            permanent_url=None,
            delimited=True,
            received_bytes=len(body),
            fetched_at=datetime.now(UTC),
            elapsed=timedelta(),
        )

    def _item(self) -> str:
        self.number += 1
        title, text = self._words(8), self._words(LENGTH)
        link = f"https://example.org/{self.number}"
        return f"<item><title>{title}</title><link>{link}</link><description>{text}</description></item>"

    def _words(self, count: int) -> str:
        return " ".join(f"w{int(VOCABULARY ** self.chance.random())}" for _ in range(count))


_HITS = select(func.coalesce(func.sum(filters.c.hit_count), 0).label("n"))
SUBSCRIBE = insert(subscriptions, "user_id", "feed_id", "created_at")


async def refreshing(db: Database, folder: Path, rounds: int, case: str) -> list[Cell]:
    """The cost of a refresh without filters and with them: wall time, CPU time, and the ratios."""
    await migrate(db)
    feeds, users = await _subscribe(db, *CASES[case])
    writers = RefreshWriters(filters=partial(filter_writes, db), stories=partial(story_writes, db))
    articles = Articles()
    tools = RefreshTools(db, FolderBlobs(folder / "objects"), articles, writers=writers)
    found: dict[int, list[tuple[float, float]]] = {0: [], 1: []}
    for number in range(2 * rounds):
        enabled = number % 2
        await db.batch([Step(filters.update().values(enabled=enabled)), *map(step_to_set_version, users)])
        articles.write(2 * len(feeds))
        # The first of two prepares the plans and the statements.
        await _refresh_all(tools, feeds)
        found[enabled].append(await _refresh_all(tools, feeds))
    (wall, cpu), (wall_with, cpu_with) = (map(_lower_quartile, zip(*found[on], strict=True)) for on in (0, 1))
    [hits] = await db.query(_HITS)
    each = int(hits["n"]) / rounds / len(feeds) / 2
    return [f"{db.dialect_name}: {case}", wall, wall_with, wall_with / wall, cpu, cpu_with, cpu_with / cpu, each]


def _lower_quartile(times: Sequence[float]) -> float:
    return quantiles(times, n=4)[0]


async def _subscribe(db: Database, subscribers: int, rank: int) -> tuple[list[Feed], list[int]]:
    """Feeds, and the users who subscribe to all of them, each with as many filters."""
    users = []
    feeds = [await add_feed(db, f"https://example.org/feed{number}", NOW) for number in range(FEEDS)]
    for number in range(subscribers):
        user = await add_user(db, f"user {number}", None, False, NOW)
        users.append(user.id)
        rows = [{"user_id": user.id, "feed_id": feed.id, "created_at": to_iso(NOW)} for feed in feeds]
        await db.batch([Step(SUBSCRIBE, rows)])
        for place in range(FILTERS):
            condition = _condition(number * FILTERS + place, rank)
            draft = FilterDraft(condition, condition, actions=ACTIONS[place % len(ACTIONS)])
            await add_filter(db, user.id, FilterKind.FILTER, draft, None, NOW)
    return feeds, users


def _condition(number: int, rank: int) -> str:
    """Most are a word, as those of people; one in ten has a phrase, a field, alternatives or a beginning."""
    word, other = f"w{rank + number * 31}", f"w{rank + number * 17}"
    forms = {
        0: f'"{word} {other}"',
        1: f"in:title:{word}",
        2: f"{word} OR {other}",
        3: f"{word}*",
        4: f"{word} -{other}",
    }
    return forms.get(number % 50, word)


async def _refresh_all(tools: RefreshTools, feeds: Sequence[Feed]) -> tuple[float, float]:
    """Refreshes each feed once; wall time and CPU time of one, in milliseconds."""
    claims = await claim_feeds(tools.db, [feed.id for feed in feeds], datetime.now(UTC))
    started, cpu = time.perf_counter(), time.process_time()
    for claim in claims:
        await refresh_feed(tools, claim)
    count = len(claims)
    return (time.perf_counter() - started) * 1000 / count, (time.process_time() - cpu) * 1000 / count


# --- trials ------------------------------------------------------------------------------------------------


def conditions(entries: int) -> dict[str, str]:
    """What is tried, by what it is."""
    return {
        "a rare word": RARE,
        "a rare Chinese word": RARE_HAN,
        f"a word of {entries // 10:,}": WORDS[0],
        f"in a title, of {entries // 10:,}": f"in:title:{WORDS[0]}",
        f"a phrase of {entries // 10:,}": f'"the {WORDS[0]}"',
        f"one of five words, of {entries // 2:,}": " OR ".join(WORDS[:5]),
        f"an author of all {entries:,}": "in:author:writer",
        f"one word and not another, of {entries // 10:,}": f"{WORDS[0]} -{RARE}",
        f"not a word, of {entries // 10:,}": f"-{WORDS[0]}",
        "no word: a language": "lang:en",
        "a regular expression": "/riv[e]r/",
        "a word and a regular expression": f"{WORDS[0]} /number 1[0-9]{{2}}/",
    }


async def trying(db: Database, entries: int) -> list[list[Cell]]:
    user, _ = await reader(db)
    rows: list[list[Cell]] = []
    for name, condition in conditions(entries).items():
        trial = await try_filter(db, user.id, condition, ALL_FEEDS, NOW)
        took, cpu = await _least_times(partial(try_filter, db, user.id, condition, ALL_FEEDS, NOW))
        looked = "all" if trial.is_complete else f"since {(trial.oldest_at or '')[:10]}"
        page: Cell = "–"
        if "/" not in condition:
            page, _ = await _least_times(partial(run_search, db, user.id, SearchRequest(condition, "date"), NOW))
        rows.append([f"{db.dialect_name}: {name}", trial.total, looked, took, cpu, page])
    return rows


async def _least_times(work: Callable[[], Awaitable[Any]], runs: int = 3) -> tuple[float, float]:
    """Wall time and CPU time, the shortest of several runs, in milliseconds."""
    times = []
    for _ in range(runs):
        started, cpu = time.perf_counter(), time.process_time()
        await work()
        times.append(((time.perf_counter() - started) * 1000, (time.process_time() - cpu) * 1000))
    return min(times)


def quiet_logs() -> None:
    """Each feed replaces all its entries at once, which is logged."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))


async def run(arguments: argparse.Namespace) -> None:
    names = arguments.databases.split(",")
    refreshes = []
    for name in names:
        for case in CASES:
            with tempfile.TemporaryDirectory() as folder, DATABASES[name](Path(folder)) as db:
                refreshes.append(await refreshing(db, Path(folder), arguments.rounds, case))
                await db.close()
    columns = ["", "without, ms", "with, ms", "ratio", "CPU without", "CPU with", "CPU ratio", "hits a feed"]
    title = f"Refreshing a feed with {NEW} new entries, with {FILTERS} filters of each subscriber and without"
    report_table(Table(title, columns, refreshes, __doc__ or ""))
    trials = []
    for name in names:
        with database_folder(name, arguments.keep) as folder, DATABASES[name](folder) as db:
            await load_once(db, folder, arguments.entries, min(1000, arguments.entries // 50))
            trials += await trying(db, arguments.entries)
            await db.close()
    columns = ["", "matches", "among", "trial, ms", "CPU, ms", "a page of a search, ms"]
    report_table(Table(f"Trying a filter on {arguments.entries:,} entries", columns, trials))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--databases", default="sqlite,postgresql")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--keep", type=Path)
    quiet_logs()
    uvloop.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
