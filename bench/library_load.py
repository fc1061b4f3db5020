"""Loads a large library for `bench/library.py` through the writes of a refresh; optionally kept for the next run.

Entries are loaded in the order of time, a few of each feed at once, as in years of fetching. PostgreSQL builds its word
index when all are loaded: building it row by row would take most of the time.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import select, text
from sqlalchemy.sql import Executable

from feedmill.model.refresh import NewEntry
from feedmill.model.timestamps import to_iso
from feedmill.model.user import User
from feedmill.store.database import Database, Params, Step
from feedmill.store.dialect import insert, insert_selected
from feedmill.store.drivers.postgres import PostgresDatabase
from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.entries.add_entries import steps_to_add_entries
from feedmill.store.entries.unread_list_sql import RECOUNT
from feedmill.store.feeds.add_feeds import NewFeed, add_feeds
from feedmill.store.migrations import migrate
from feedmill.store.schema import entries, feeds, subscriptions, unread, users
from feedmill.store.users.users import add_user, user_of_name
from tests.services.postgres import own_postgres

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
USERS = 5
AT_ONCE = 10
WORDS = ("river", "engine", "market", "garden", "signal", "paper", "window", "winter", "battery", "language")
HAN = ("数据", "新闻", "技术", "城市", "经济", "音乐", "天气", "历史")
RARE, RARE_HAN = "zephyr", "麒麟"
GIN = "SELECT indexdef FROM pg_indexes WHERE indexname = 'search_texts_words'"


@contextmanager
def on_sqlite(folder: Path) -> Iterator[Database]:
    yield SqliteDatabase(folder / "library.db")


@contextmanager
def on_postgresql(folder: Path) -> Iterator[Database]:
    with own_postgres(folder) as server:
        yield PostgresDatabase(server.service.url)


DATABASES = {"sqlite": on_sqlite, "postgresql": on_postgresql}


@contextmanager
def database_folder(name: str, keep: Path | None) -> Iterator[Path]:
    """The folder of a database: a temporary one, or a subfolder of `keep`."""
    if keep is None:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)
    else:
        (keep / name).mkdir(parents=True, exist_ok=True)
        yield keep / name


async def load_once(db: Database, folder: Path, entry_count: int, feed_count: int) -> None:
    """Fills the database in the folder, unless an earlier run did."""
    done = folder / "loaded"
    if not done.exists():
        await _load(db, entry_count, feed_count)
        done.touch()


async def _load(db: Database, entry_count: int, feed_count: int) -> None:
    await migrate(db)
    await add_feeds(db, [NewFeed(f"https://example.org/{n}") for n in range(feed_count)], NOW, NOW)
    feed_ids = [row["id"] for row in await db.query(select(feeds.c.id).order_by(feeds.c.id))]
    words_index = [row["indexdef"] for row in await db.query(text(GIN))] if db.dialect_name == "postgresql" else []
    for _ in words_index:
        await db.exec("DROP INDEX search_texts_words")
    await _add_entries(db, entry_count, feed_ids)
    for index in words_index:
        await db.exec(f"SET maintenance_work_mem = '1GB'; {index}")
    for number in range(USERS):
        first_unread = entry_count // 2 if number == 0 else entry_count * 49 // 50
        user = await add_user(db, f"user {number}", None, False, NOW)
        await _subscribe(db, user, feed_ids, _time(first_unread, entry_count))
    await db.exec("ANALYZE")


async def reader(db: Database) -> tuple[User, tuple[int, ...]]:
    """The user with the most to read, and their subscriptions."""
    user = await user_of_name(db, "user 0")
    assert user is not None
    own = select(subscriptions.c.id).where(subscriptions.c.user_id == user.id).order_by(subscriptions.c.id)
    return user, tuple(row["id"] for row in await db.query(own))


async def _add_entries(db: Database, entry_count: int, feed_ids: list[int]) -> None:
    chunk = AT_ONCE * len(feed_ids)
    for start in range(0, entry_count, chunk):
        steps: list[Step] = []
        for place, feed_id in enumerate(feed_ids):
            new = [_entry(number, entry_count) for number in range(start + place, start + chunk, len(feed_ids))]
            steps += steps_to_add_entries(feed_id, f"load {start}", new, to_iso(NOW), in_feed=True)
        await db.batch(_merge_steps(steps))
    await db.batch([Step(feeds.update().values(entry_count=entry_count // len(feed_ids)))])


def _merge_steps(steps: list[Step]) -> list[Step]:
    """Merges the rows of all feeds into one step per table, by date; there are no subscribers yet."""
    rows: dict[Executable, list[Params]] = {}
    for statement, params in steps:
        if isinstance(params, Sequence):
            rows.setdefault(statement, []).extend(params)
    return [Step(statement, sorted(some, key=lambda row: row["guid"].zfill(9))) for statement, some in rows.items()]


async def _subscribe(db: Database, user: User, feed_ids: list[int], unread_since: datetime) -> None:
    rows = [{"user_id": user.id, "feed_id": feed_id, "created_at": to_iso(NOW)} for feed_id in feed_ids]
    chosen = (
        select(users.c.unread_list_id, entries.c.sort_at, entries.c.id, subscriptions.c.id.label("of"))
        .join(subscriptions, subscriptions.c.user_id == users.c.id)
        .join(entries, entries.c.feed_id == subscriptions.c.feed_id)
        .where(users.c.id == user.id, entries.c.sort_at >= to_iso(unread_since))
        .order_by(entries.c.sort_at)
    )
    await db.batch([Step(insert(subscriptions, "user_id", "feed_id", "created_at"), rows)])
    await db.batch([Step(insert_selected(unread, chosen)), Step(RECOUNT, {"of_user": user.id})])


def _entry(number: int, count: int) -> NewEntry:
    word, han = WORDS[number % 10], HAN[number % 8]
    rare = f"{RARE} {RARE_HAN}" if number % 5000 == 0 else ""
    at = _time(number, count)
    return NewEntry(
        guid=str(number),
        digest="d" * 64,
        sort_at=at,
        published_at=at,
        updated_at=None,
        link=f"https://example.org/articles/{number}",
        title=f"The {word} of day {number} {rare}",
        author="A. Writer",
        summary=f"What happened to the {word} and why it matters to {han}.",
        content_html=f"<p>The {word} was seen near number {number % 977}. {rare}</p><p>今天{han}的消息。</p>" * 3,
        base_url=None,
        language="en",
        image_url=None,
        comments_url=None,
        categories=(),
        enclosures=(),
        images=(),
    )


def _time(number: int, count: int) -> datetime:
    return NOW - timedelta(minutes=count - number)
