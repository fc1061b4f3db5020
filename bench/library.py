"""Reading and searching a large library, each beside a bare SQL statement on the same connection.

    python bench/library.py [--entries 1000000] [--feeds 1000] [--databases sqlite,postgresql] [--keep FOLDER]

Five users subscribe to every feed; the first has half of all entries unread. Each figure is the median of some runs,
in milliseconds. What we do includes who may see what, labels, and making what is shown; the bare statement fetches
the same columns along the same index and nothing more. A million entries take 3 GB in the temporary folder, or in
FOLDER, where the next run finds them loaded.
"""

import argparse
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import uvloop
from library_load import DATABASES, HAN, NOW, RARE, RARE_HAN, USERS, WORDS, load_once, reader, room_for
from report import Cell, Table, tell
from sqlalchemy import Select, and_, bindparam, func, select, text
from sqlalchemy.sql import Executable

from feedmill.library.reading import Wanted, list_entries
from feedmill.library.search import Asked, search
from feedmill.model.account import User
from feedmill.model.reading import Order, Scope, Sweep, View
from feedmill.model.search import Order as SearchOrder
from feedmill.store.database import Database
from feedmill.store.dialect import as_list
from feedmill.store.listing import STARTS, UNREAD_COUNTS, page
from feedmill.store.schema import entries, feeds, states, subscriptions, unread
from feedmill.store.sweeps import sweep
from feedmill.store.undo import undo
from feedmill.store.unread import of_user

PAGE = 50
FOLDER = 100
RUNS = 30

Work = Callable[[], Awaitable[Any]]


# --- the bare statements -----------------------------------------------------------------------------------

_rows = (
    feeds.join(entries, entries.c.feed_id == feeds.c.id)
    .join(subscriptions, and_(subscriptions.c.feed_id == feeds.c.id, of_user))
    .outerjoin(states, and_(states.c.entry_id == entries.c.id, states.c.user_id == bindparam("of_user")))
)
_shown = (
    entries.c.id, entries.c.sort_at, entries.c.published_at, entries.c.link, entries.c.title, entries.c.author,
    entries.c.summary, entries.c.image_url, entries.c.language, subscriptions.c.id.label("subscription_id"),
    subscriptions.c.title.label("own_title"), feeds.c.title.label("feed_title"), states.c.starred_at, states.c.later_at,
    states.c.read_at,
)  # fmt: skip
BARE_UNREAD = (
    select(*_shown)
    .select_from(_rows.join(unread, unread.c.entry_id == entries.c.id))
    .where(unread.c.list_id == bindparam("list_id"))
    .order_by(unread.c.sort_at.desc(), unread.c.entry_id.desc())
    .limit(PAGE)
)
BARE_FEED = (
    select(*_shown)
    .select_from(_rows)
    .where(entries.c.feed_id == bindparam("feed_id"))
    .order_by(entries.c.sort_at.desc(), entries.c.id.desc())
    .limit(PAGE)
)


def joined(keys: Select[Any]) -> Select[Any]:
    """A page of several feeds with what a list shows, in one statement."""
    found = keys.subquery("keys")
    rows = _rows.join(found, found.c.entry_id == entries.c.id)
    return select(*_shown).select_from(rows).order_by(found.c.at.desc(), found.c.entry_id.desc())


_FOUND = "SELECT entries.id, entries.title, entries.summary, entries.link, entries.sort_at FROM"
_FTS5 = (
    f"{_FOUND} search_index JOIN search_texts ON place = search_index.rowid JOIN entries ON entries.id = entry_id "
    "WHERE search_index MATCH :word ORDER BY"
)
_TSVECTOR = (
    f"{_FOUND} search_texts JOIN entries ON entries.id = entry_id WHERE words @@ CAST(:word AS tsquery) ORDER BY"
)
# The newest, and the best, that have a word, from the index alone.
BARE_SEARCH = {
    ("sqlite", "date"): text(f"{_FTS5} search_index.rowid DESC LIMIT 50"),
    ("sqlite", "rank"): text(f"{_FTS5} search_index.rank LIMIT 50"),
    ("postgresql", "date"): text(f"{_TSVECTOR} place DESC LIMIT 50"),
    ("postgresql", "rank"): text(f"{_TSVECTOR} ts_rank(words, CAST(:word AS tsquery)) DESC LIMIT 50"),
}


# --- measuring ---------------------------------------------------------------------------------------------


class Bench:
    """The measurements of one database."""

    def __init__(self, db: Database, user: User, subscribed: tuple[int, ...]) -> None:
        self.db, self.user, self.subscribed = db, user, subscribed
        self.rows: list[list[Cell]] = []

    async def run(self) -> list[list[Cell]]:
        one, folder = self.subscribed[len(self.subscribed) // 2], self.subscribed[:FOLDER]
        await self.lists("unread", View.UNREAD, None, BARE_UNREAD)
        await self.lists("one feed", View.ALL, (one,), BARE_FEED)
        await self.lists("unread of a folder", View.UNREAD, folder, joined(_page(View.UNREAD, of_one=False)))
        await self.lists("a folder", View.ALL, folder, joined(_page(View.ALL, of_one=False)))
        await self.lists("all", View.ALL, None, joined(_page(View.ALL, of_one=None)))
        counts = {"of_user": self.user.id}
        await self.beside("unread counts", lambda: self.db.query(UNREAD_COUNTS, counts), UNREAD_COUNTS, counts)
        for word in (RARE, WORDS[0], RARE_HAN, HAN[0]):
            await self.searches(word, "date", "newest first")
            await self.searches(word, "rank", "best first")
        await self.sweeps()
        return self.rows

    async def lists(self, name: str, view: View, ids: tuple[int, ...] | None, bare: Select[Any]) -> None:
        wanted = Wanted(view, Scope(ids), most=PAGE)
        top = STARTS[Order.NEWEST]
        params = {
            "of_user": self.user.id, "list_id": self.user.unread_list_id, "at": top.at, "entry_id": top.entry_id,
            "most": PAGE, "rest": PAGE - 1, "subscriptions": as_list(list(ids or ())),
            "feed_id": await self._feed_of(ids[0]) if ids else None,
        }  # fmt: skip
        await self.beside(name, lambda: list_entries(self.db, self.user.id, wanted, NOW), bare, params)

    async def searches(self, word: str, order: SearchOrder, said: str) -> None:
        asked, bare = Asked(word, order, most=PAGE), BARE_SEARCH[self.db.dialect_name, order]
        ours = lambda: search(self.db, self.user.id, asked, NOW)  # noqa: E731
        await self.beside(f"{word}, {said}", ours, bare, {"word": word})

    async def beside(self, name: str, ours: Work, bare: Executable, params: dict[str, Any]) -> None:
        """By turns, so that whatever else the machine does slows both."""
        pairs = [(await timed(ours), await timed(lambda: self.db.query(bare, params))) for _ in range(RUNS)]
        mine, theirs = (median(each) for each in zip(*pairs, strict=True))
        self.rows.append([name, mine, theirs, mine / theirs])

    async def sweeps(self) -> None:
        """Marking all read, all but the newest, and half of it, each undone."""
        [middle] = await self.db.query(select(func.max(entries.c.id).label("id")))
        for name, wanted in (
            ("mark all read", Sweep()),
            ("mark read up to an entry", Sweep(up_to=middle["id"] - 10)),
            ("mark a folder read", Sweep(Scope(self.subscribed[:FOLDER]))),
        ):
            marking, undoing = [], []
            for _ in range(3):
                started = time.perf_counter()
                swept = await sweep(self.db, self.user.id, wanted, NOW)
                marking.append((time.perf_counter() - started) * 1000)
                undoing.append(await timed(partial(undo, self.db, self.user.id, swept.undo, NOW)))
            self.rows.append([f"{name} ({swept.marked:,})", median(marking), "", ""])
            self.rows.append(["… undone", median(undoing), "", ""])

    async def _feed_of(self, subscription_id: int) -> int:
        [row] = await self.db.query(select(subscriptions.c.feed_id).where(subscriptions.c.id == subscription_id))
        return int(row["feed_id"])


def _page(view: View, of_one: bool | None) -> Select[Any]:
    return page(view, Order.NEWEST, of_one, labelled=False)


async def timed(work: Work) -> float:
    """How long a call takes, in milliseconds."""
    started = time.perf_counter()
    await work()
    return (time.perf_counter() - started) * 1000


async def main(arguments: argparse.Namespace) -> None:
    for name in arguments.databases.split(","):
        kept_as = f"{name}-{arguments.entries}-{arguments.feeds}"
        with room_for(kept_as, arguments.keep) as folder, DATABASES[name](folder) as db:
            started = time.monotonic()
            await load_once(db, folder, arguments.entries, arguments.feeds)
            loaded = f"Loaded in {time.monotonic() - started:.0f} s."
            rows = await Bench(db, *await reader(db)).run()
            title = f"{name}: {arguments.entries:,} entries, {arguments.feeds:,} feeds, {USERS} users"
            tell(Table(title, ["", "ms", "bare SQL, ms", "ratio"], rows, notes=[loaded]))
            await db.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--feeds", type=int, default=1_000)
    parser.add_argument("--databases", default="sqlite,postgresql")
    parser.add_argument("--keep", type=Path)
    uvloop.run(main(parser.parse_args()))
