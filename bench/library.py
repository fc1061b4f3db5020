"""Reading and searching a large library, each beside a bare SQL statement on the same connection.

    python bench/library.py [--entries 1000000] [--feeds 1000] [--databases sqlite,postgresql]

Five users subscribe to every feed; the first has half of all entries unread. Each figure is the median of some runs,
in milliseconds. What we do includes who may see what, labels, and making what is shown; the bare statement fetches
the same columns along the same index and nothing more. A million entries take 3 GB in the temporary folder.
"""

import argparse
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import uvloop
from report import Cell, Table, tell
from sqlalchemy import Select, and_, bindparam, func, select, text
from sqlalchemy.sql import Executable

from feedmill.library.reading import Wanted, list_entries
from feedmill.library.search import Asked, search
from feedmill.model.account import User
from feedmill.model.reading import Order, Scope, Sweep, View
from feedmill.model.refresh import NewEntry
from feedmill.model.search import Order as SearchOrder
from feedmill.model.times import to_text
from feedmill.store.accounts import add_user
from feedmill.store.additions import NewFeed, add_feeds
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, insert, insert_selected
from feedmill.store.drivers.postgres import PostgresDatabase
from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.entry_rows import add_entries
from feedmill.store.listing import STARTS, UNREAD_COUNTS, page
from feedmill.store.migrations import migrate
from feedmill.store.schema import entries, feeds, states, subscriptions, unread, users
from feedmill.store.sweeps import sweep
from feedmill.store.undo import undo
from feedmill.store.unread import RECOUNT, of_user
from tests.services.postgres import running_postgres

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
USERS = 5
PAGE = 50
FOLDER = 100
RUNS = 30
WORDS = ("river", "engine", "market", "garden", "signal", "paper", "window", "winter", "battery", "language")
HAN = ("数据", "新闻", "技术", "城市", "经济", "音乐", "天气", "历史")
RARE, RARE_HAN = "zephyr", "麒麟"

Work = Callable[[], Awaitable[Any]]


# --- loading -----------------------------------------------------------------------------------------------


async def load(db: Database, entry_count: int, feed_count: int) -> tuple[User, tuple[int, ...]]:
    await migrate(db)
    await add_feeds(db, [NewFeed(f"https://example.org/{n}") for n in range(feed_count)], NOW, NOW)
    feed_ids = [row["id"] for row in await db.query(select(feeds.c.id).order_by(feeds.c.id))]
    each = entry_count // feed_count
    for place, feed_id in enumerate(feed_ids):
        new = [_entry(number * feed_count + place, entry_count) for number in range(each)]
        await db.batch(add_entries(feed_id, f"load {place}", new, to_text(NOW), in_feed=True))
    people = [await add_user(db, f"user {number}", None, False, NOW) for number in range(USERS)]
    for user in people:
        first_unread = entry_count // 2 if user is people[0] else entry_count * 49 // 50
        await _subscribe(db, user, feed_ids, _time(first_unread, entry_count))
    await db.exec("ANALYZE")
    own = select(subscriptions.c.id).where(subscriptions.c.user_id == people[0].id).order_by(subscriptions.c.id)
    return people[0], tuple(row["id"] for row in await db.query(own))


async def _subscribe(db: Database, user: User, feed_ids: list[int], unread_since: datetime) -> None:
    rows = [{"user_id": user.id, "feed_id": feed_id, "created_at": to_text(NOW)} for feed_id in feed_ids]
    chosen = (
        select(users.c.unread_list_id, entries.c.sort_at, entries.c.id, subscriptions.c.id.label("of"))
        .join(subscriptions, subscriptions.c.user_id == users.c.id)
        .join(entries, entries.c.feed_id == subscriptions.c.feed_id)
        .where(users.c.id == user.id, entries.c.sort_at >= to_text(unread_since))
        .order_by(entries.c.sort_at)
    )
    await db.batch([Step(insert(subscriptions, "user_id", "feed_id", "created_at"), rows)])
    await db.batch([Step(insert_selected(unread, chosen)), Step(RECOUNT, {"of_user": user.id})])


def _entry(number: int, count: int) -> NewEntry:
    word, han = WORDS[number % 10], HAN[number % 8]
    rare = f"{RARE} {RARE_HAN}" if number % 5000 == 0 else ""
    at = _time(number, count)
    return NewEntry(
        guid=str(number), digest="d" * 64, sort_at=at, published_at=at, updated_at=None,
        link=f"https://example.org/articles/{number}", title=f"The {word} of day {number} {rare}", author="A. Writer",
        summary=f"What happened to the {word} and why it matters to {han}.",
        content_html=f"<p>The {word} was seen near number {number % 977}. {rare}</p><p>今天{han}的消息。</p>" * 3,
        base_url=None, language="en", image_url=None, comments_url=None, categories=(), enclosures=(), images=(),
    )  # fmt: skip


def _time(number: int, count: int) -> datetime:
    return NOW - timedelta(minutes=count - number)


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


# --- databases ---------------------------------------------------------------------------------------------


@contextmanager
def on_sqlite() -> Iterator[Database]:
    with tempfile.TemporaryDirectory() as folder:
        yield SqliteDatabase(Path(folder) / "library.db")


@contextmanager
def on_postgresql() -> Iterator[Database]:
    with running_postgres() as service:
        yield PostgresDatabase(service.url)


DATABASES = {"sqlite": on_sqlite, "postgresql": on_postgresql}


async def main(arguments: argparse.Namespace) -> None:
    for name in arguments.databases.split(","):
        with DATABASES[name]() as db:
            started = time.monotonic()
            user, subscribed = await load(db, arguments.entries, arguments.feeds)
            loaded = f"Loaded in {time.monotonic() - started:.0f} s."
            rows = await Bench(db, user, subscribed).run()
            title = f"{name}: {arguments.entries:,} entries, {arguments.feeds:,} feeds, {USERS} users"
            tell(Table(title, ["", "ms", "bare SQL, ms", "ratio"], rows, notes=[loaded]))
            await db.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--feeds", type=int, default=1_000)
    parser.add_argument("--databases", default="sqlite,postgresql")
    uvloop.run(main(parser.parse_args()))
