"""Benchmarks reading and searching a large library against bare SQL statements on the same connection.

    python bench/library.py [--entries 1000000] [--feeds 1000] [--databases sqlite,postgresql] [--keep FOLDER]

Five users subscribe to every feed; the first has half of all entries unread. Each figure is the lower quartile of
several runs, in milliseconds. Ours includes access checks, labels and building the results; the bare statement is
hand-written for the same page. A million entries take 3 GB in the temporary folder, or in FOLDER, where the next run
finds them loaded.
"""

import argparse
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import uvloop
from library_load import DATABASES, HAN, NOW, RARE, RARE_HAN, USERS, WORDS, database_folder, load_once, reader
from report import Cell, Table, report_table
from sqlalchemy import TextClause, func, select, text

from feedmill.library.entries.list_entries import EntryListQuery, list_entries
from feedmill.library.search.run_search import SearchRequest, run_search
from feedmill.model.entry_lists import EntryScope, EntryView
from feedmill.model.entry_marks import MarkAllRead
from feedmill.model.search_query import SearchOrder as SearchOrder
from feedmill.model.user import User
from feedmill.store.database import Database
from feedmill.store.dialect import as_list
from feedmill.store.entries.mark_all_read import mark_unread_as_read
from feedmill.store.entries.undo_mark_all_read import restore_retired_list
from feedmill.store.schema import entries, subscriptions
from feedmill.store.subscriptions.read_subscriptions import subscriptions_of

PAGE = 50
FOLDER = 100
RUNS, FEWEST = 50, 3
LONGEST = 5.0

Work = Callable[[], Awaitable[Any]]


# --- the bare statements -----------------------------------------------------------------------------------

# Hand-written statements for the same page: the same columns except labels, and only what the user may see.
_SHOWN = (
    "e.id, e.sort_at, e.published_at, e.link, e.title, e.author, e.summary, e.image_url, e.revision_count, "
    "coalesce(e.language, f.language) AS language, s.id AS subscription_id, "
    "coalesce(s.title, f.own_title, f.title) AS feed_title, u.entry_id AS unread_id, "
    "st.read_at, st.starred_at, st.later_at, st.later_until"
)
_SEEN = (
    "JOIN feeds f ON f.id = e.feed_id JOIN subscriptions s ON s.feed_id = f.id AND s.user_id = :of_user "
    "LEFT JOIN states st ON st.user_id = :of_user AND st.entry_id = e.id"
)
_STANDS = "LEFT JOIN unread u ON u.list_id = :list_id AND u.sort_at = e.sort_at AND u.entry_id = e.id"
BARE_UNREAD = text(
    f"SELECT {_SHOWN} FROM unread u JOIN entries e ON e.id = u.entry_id {_SEEN} WHERE u.list_id = :list_id "
    f"ORDER BY u.sort_at DESC, u.entry_id DESC LIMIT {PAGE}"
)
BARE_FEED = text(
    f"SELECT {_SHOWN} FROM entries e {_SEEN} {_STANDS} WHERE e.feed_id = :feed_id "
    f"ORDER BY e.sort_at DESC, e.id DESC LIMIT {PAGE}"
)
BARE_FEEDS = text(
    "SELECT s.id, s.feed_id, s.unread_count, s.interval_seconds, s.archive_policy, s.paused, s.created_at, f.url, "
    "f.site_url, f.icon_url, f.status, f.gone_since, f.entry_count, f.next_fetch_at, f.next_fetch_why, "
    "f.last_fetched_at, f.last_success_at, f.last_entry_at, f.consecutive_failures, f.last_error, "
    "s.title AS own_title, f.title AS feed_title, f.own_title AS operators_title, "
    "substr(i.sha256, 1, 16) AS icon FROM subscriptions s JOIN feeds f ON f.id = s.feed_id "
    "LEFT JOIN icons i ON i.feed_id = s.feed_id WHERE s.user_id = :of_user ORDER BY s.id"
)
_LISTED = {
    "sqlite": "json_each(:subscriptions)",
    "postgresql": "json_array_elements_text(CAST(:subscriptions AS json))",
}


def bare_several(dialect: str, view: EntryView, of_some: bool) -> TextClause:
    """A page of several feeds; without an index of all entries by time this sorts them all."""
    chosen = f"s.id IN (SELECT CAST(value AS bigint) FROM {_LISTED[dialect]})" if of_some else "1 = 1"
    if view is EntryView.UNREAD:
        source, stands = "unread u JOIN entries e ON e.id = u.entry_id", ""
        chosen = f"u.list_id = :list_id AND {chosen.replace('s.id', 'u.subscription_id')}"
    else:
        source, stands = "entries e", _STANDS
    order = "u.sort_at DESC, u.entry_id DESC" if view is EntryView.UNREAD else "e.sort_at DESC, e.id DESC"
    return text(f"SELECT {_SHOWN} FROM {source} {_SEEN} {stands} WHERE {chosen} ORDER BY {order} LIMIT {PAGE}")


_SOURCES = {
    "sqlite": ("search_index i JOIN search_texts t ON t.place = i.rowid", "search_index MATCH :word"),
    "postgresql": ("search_texts t", "array_to_tsvector(string_to_array(t.words, ' ')) @@ CAST(:word AS tsquery)"),
}
_ORDERS = {
    ("sqlite", "date"): ("i.rowid", "DESC"),
    ("sqlite", "rank"): ("bm25(search_index, 10, 5, 1)", "ASC"),
    ("postgresql", "date"): ("t.place", "DESC"),
    ("postgresql", "rank"): ("ts_rank(to_tsvector('simple', t.words), CAST(:word AS tsquery))", "DESC"),
}


def bare_search(dialect: str, order: SearchOrder) -> TextClause:
    """The newest, or the best, entries with a word."""
    (source, matches), (key, way) = _SOURCES[dialect], _ORDERS[dialect, order]
    keys = (
        f"SELECT t.entry_id, {key} AS place FROM {source} JOIN entries d ON d.id = t.entry_id "
        f"JOIN subscriptions o ON o.feed_id = d.feed_id AND o.user_id = :of_user "
        f"WHERE {matches} ORDER BY {key} {way} LIMIT {PAGE}"
    )
    found = f"({keys}) k JOIN entries e ON e.id = k.entry_id {_SEEN} {_STANDS}"
    return text(f"SELECT {_SHOWN} FROM {found} ORDER BY k.place {way}")


# --- measuring ---------------------------------------------------------------------------------------------


class Bench:
    """The measurements of one database."""

    def __init__(self, db: Database, user: User, subscribed: tuple[int, ...]) -> None:
        self.db, self.user, self.subscribed = db, user, subscribed
        self.dialect = db.dialect_name
        self.hers = {"of_user": user.id, "list_id": user.unread_list_id}
        self.rows: list[list[Cell]] = []

    async def run(self) -> list[list[Cell]]:
        one, folder = self.subscribed[len(self.subscribed) // 2], self.subscribed[:FOLDER]
        await self.lists("unread", EntryView.UNREAD, None, BARE_UNREAD)
        await self.lists("one feed", EntryView.ALL, (one,), BARE_FEED)
        await self.lists(
            "unread of a folder", EntryView.UNREAD, folder, bare_several(self.dialect, EntryView.UNREAD, True)
        )
        await self.lists("a folder", EntryView.ALL, folder, bare_several(self.dialect, EntryView.ALL, True))
        await self.lists("all", EntryView.ALL, None, bare_several(self.dialect, EntryView.ALL, False))
        feeds = partial(subscriptions_of, self.db, self.user.id)
        await self.beside("feeds with unread counts", feeds, BARE_FEEDS, {"of_user": self.user.id})
        for word in (RARE, WORDS[0], RARE_HAN, HAN[0]):
            await self.searches(word, "date", "newest first")
            await self.searches(word, "rank", "best first")
        await self.sweeps()
        return self.rows

    async def lists(self, name: str, view: EntryView, ids: tuple[int, ...] | None, bare: TextClause) -> None:
        wanted = EntryListQuery(view, EntryScope(ids), most=PAGE)
        params = {"subscriptions": as_list(list(ids or ())), "feed_id": await self._feed_of(ids[0]) if ids else None}
        await self.beside(name, partial(list_entries, self.db, self.user.id, wanted, NOW), bare, self.hers | params)

    async def searches(self, word: str, order: SearchOrder, said: str) -> None:
        ours = partial(run_search, self.db, self.user.id, SearchRequest(word, order, most=PAGE), NOW)
        await self.beside(f"{word}, {said}", ours, bare_search(self.dialect, order), self.hers | {"word": word})

    async def beside(self, name: str, ours: Work, bare: TextClause, params: dict[str, Any]) -> None:
        """Alternately, so that other load slows both; fewer rounds where the bare statement is slow."""
        pairs: list[tuple[float, float]] = []
        started = time.monotonic()
        while len(pairs) < FEWEST or (len(pairs) < RUNS and time.monotonic() < started + LONGEST):
            pairs.append((await timed(ours), await timed(partial(self.db.query, bare, params))))
        mine, theirs = (quantiles(each, n=4)[0] for each in zip(*pairs, strict=True))
        self.rows.append([name, mine, theirs, mine / theirs])

    async def sweeps(self) -> None:
        """Marks all read, all but the newest, and half, each with undo."""
        [middle] = await self.db.query(select(func.max(entries.c.id).label("id")))
        for name, wanted in (
            ("mark all read", MarkAllRead()),
            ("mark read up to an entry", MarkAllRead(up_to=middle["id"] - 10)),
            ("mark a folder read", MarkAllRead(EntryScope(self.subscribed[:FOLDER]))),
        ):
            marking, undoing = [], []
            for _ in range(3):
                started = time.perf_counter()
                swept = await mark_unread_as_read(self.db, self.user.id, wanted, NOW)
                marking.append((time.perf_counter() - started) * 1000)
                undoing.append(await timed(partial(restore_retired_list, self.db, self.user.id, swept.undo, NOW)))
            self.rows.append([f"{name} ({swept.marked:,})", median(marking), "", ""])
            self.rows.append(["… undone", median(undoing), "", ""])

    async def _feed_of(self, subscription_id: int) -> int:
        [row] = await self.db.query(select(subscriptions.c.feed_id).where(subscriptions.c.id == subscription_id))
        return int(row["feed_id"])


async def timed(work: Work) -> float:
    """How long a call takes, in milliseconds."""
    started = time.perf_counter()
    await work()
    return (time.perf_counter() - started) * 1000


async def main(arguments: argparse.Namespace) -> None:
    for name in arguments.databases.split(","):
        kept_as = f"{name}-{arguments.entries}-{arguments.feeds}"
        with database_folder(kept_as, arguments.keep) as folder, DATABASES[name](folder) as db:
            started = time.monotonic()
            await load_once(db, folder, arguments.entries, arguments.feeds)
            loaded = f"Loaded in {time.monotonic() - started:.0f} s."
            rows = await Bench(db, *await reader(db)).run()
            title = f"{name}: {arguments.entries:,} entries, {arguments.feeds:,} feeds, {USERS} users"
            report_table(Table(title, ["", "ms", "bare SQL, ms", "ratio"], rows, notes=[loaded]))
            await db.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--feeds", type=int, default=1_000)
    parser.add_argument("--databases", default="sqlite,postgresql")
    parser.add_argument("--keep", type=Path)
    uvloop.run(main(parser.parse_args()))
