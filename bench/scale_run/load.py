"""Fills a PostgreSQL with feeds, entries, the search index, users and unread lists, as the product would have left it.

The product itself writes a pool of entries: parsed, compared, stored and indexed as a refresh does. Every other entry
is a copy of one of them with its own feed, guid and dates, made inside PostgreSQL, in the order of time, so that the
entries of a feed are as scattered in the table as after years of fetching. Indexes are built afterwards.

Left out: stories of what is stored (new entries are signed and joined as always), raw bodies, images, former log lines.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
from articles import rss, rss_item, write_article
from feed_profiles import DEAD, DEAD_FAILURES, NO_VALIDATORS, FeedProfile, FeedProfiles
from progress import SAY_EVERY, Progress
from simulated_web import http_date

from feedmill.collect.entries.changes import compare_entries, entries_by_identity
from feedmill.collect.parsing.parse_feed import parse_feed
from feedmill.collect.scheduling import cadence
from feedmill.i18n.messages import Message, message_to_stored
from feedmill.library.users.passwords import hash_password
from feedmill.model.timestamps import to_iso
from feedmill.model.user import SCOPES
from feedmill.store.chunks import chunked
from feedmill.store.database import Database
from feedmill.store.entries.add_entries import steps_to_add_entries
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.schema import entries, metadata
from feedmill.store.search.index_table import IDS_PER_SECOND
from feedmill.store.users.api_keys import add_api_key
from feedmill.store.users.users import steps_to_add_user

MOST_IN_POOL = 20_000
READER, PASSWORD, API_KEY = "reader", "correct horse battery", "fm_reader"
FEWEST_SUBSCRIPTIONS, MOST_SUBSCRIPTIONS = 5, 300
MOST_UNREAD = 20
ROWS_AT_ONCE = 500_000
TABLES = ("entries", "search_texts")
# Without WAL for tables that are filled in the transaction that empties them.
SETTINGS = (
    "wal_level=minimal",
    "max_wal_senders=0",
    "full_page_writes=off",
    "synchronous_commit=off",
    "max_wal_size=16GB",
    "checkpoint_timeout=1h",
    "shared_buffers=1GB",
    "autovacuum=off",
    "max_parallel_maintenance_workers=2",
)
AT = "to_char(to_timestamp({}) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.\"000Z\"')"
PLACE = "(f.stored - 1 - r.round)"
PUBLISHED = "(f.last_at - r.round::bigint * f.period)"
ENTRY_ID = "(r.first_id + f.rank)"
ENTRY_COLUMNS = {
    "id": ENTRY_ID,
    "feed_id": "f.feed_id",
    "guid": f"f.feed_id || '-' || {PLACE}",
    "sort_at": AT.format(PUBLISHED),
    "published_at": AT.format(PUBLISHED),
    "first_seen_at": AT.format(f"{PUBLISHED} + 1800"),
    "last_seen_at": AT.format(f"{PUBLISHED} + 1800"),
    "refresh_token": "md5(f.rank || '.' || r.round)",
    "in_feed": "CASE WHEN r.round < 10 THEN 1 ELSE 0 END",
}
SEARCH_COLUMNS = {"place": f"{PUBLISHED} * {IDS_PER_SECOND} + {ENTRY_ID}", "entry_id": ENTRY_ID}
# The article of a stored entry; `simulated_web.pool_place` computes the same.
COPIES = """
    INSERT INTO {table} ({names})
    SELECT {values} FROM load_rounds r
    JOIN load_feeds f ON f.rank <= r.feeds
    JOIN {pool} p ON p.pool_place = (f.feed_id * 7919 + {place} * 104729) % {count}
    WHERE r.round BETWEEN $1 AND $2"""
INDEXES = """
    SELECT i.relname AS name, pg_get_indexdef(i.oid) AS definition, c.conname AS constraint,
        pg_get_constraintdef(c.oid) AS rule
    FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
    LEFT JOIN pg_constraint c ON c.conindid = i.oid AND c.conrelid = x.indrelid
    WHERE x.indrelid = $1::regclass AND NOT EXISTS
        (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.oid AND k.contype = 'f')
    ORDER BY i.relname"""
BUILDING = """
    SELECT phase, blocks_done::float / nullif(blocks_total, 0) AS share FROM pg_stat_progress_create_index
    WHERE relid = $1::regclass"""
UNREAD = """
    INSERT INTO unread (list_id, sort_at, entry_id, subscription_id)
    SELECT u.unread_list_id, e.sort_at, e.id, s.id
    FROM subscriptions s JOIN users u ON u.id = s.user_id
    CROSS JOIN LATERAL (
        SELECT sort_at, id FROM entries WHERE feed_id = s.feed_id ORDER BY sort_at DESC, id DESC LIMIT s.id % $1
    ) e"""
RECOUNT = """
    UPDATE subscriptions s SET unread_count = c.entries
    FROM (SELECT subscription_id, count(*) AS entries FROM unread GROUP BY subscription_id) c
    WHERE c.subscription_id = s.id"""


class Loader:
    def __init__(
        self, db: Database, url: str, profiles: FeedProfiles, entries: int, words: int, progress: Progress
    ) -> None:
        self._db, self._url, self._profiles, self._progress = db, url, profiles, progress
        self.pool, self._words = pool_size(entries), words
        self._now = datetime.fromtimestamp(profiles.start, UTC)
        self._entries = 0

    async def load(self, users: int, reader_feeds: int, popular: int) -> None:
        await self._write_pool()
        await self._add_feeds()
        await asyncio.gather(self._fill_entries(), self._add_users(users, reader_feeds, popular))
        await self._add_unread()
        async with self._connection() as one:
            self._progress.begin("statistics")
            for table in metadata.sorted_tables:
                if table.name not in TABLES:
                    await one.execute(f"VACUUM (ANALYZE) {table.name}")
            await one.execute("DROP TABLE load_pool, load_pool_search, load_feeds, load_rounds")

    # --- the pool ---

    async def _write_pool(self) -> None:
        self._progress.begin(f"a pool of {self.pool:,} entries")
        feed = await add_feed(self._db, "https://pool.example/", self._now)
        for numbers in chunked(range(self.pool), 500):
            items = "".join(
                rss_item(write_article(n, self._words), str(n), http_date(self._profiles.start - n)) for n in numbers
            )
            offered = entries_by_identity(parse_feed(rss("Pool", items)))
            changes = compare_entries(offered, {}, set(), self._now, site_url=None, with_images=True)
            await self._db.batch(steps_to_add_entries(feed.id, "pool", changes.new, to_iso(self._now), in_feed=True))
            if numbers[0] == 0:
                # Otherwise each entry is looked up among all of its feed.
                await self._db.exec("ANALYZE entries")
        async with self._connection() as one:
            await one.execute(
                """
                CREATE UNLOGGED TABLE load_pool AS SELECT guid::bigint AS pool_place, entries.* FROM entries;
                CREATE UNLOGGED TABLE load_pool_search AS
                    SELECT p.pool_place, s.* FROM search_texts s JOIN load_pool p ON p.id = s.entry_id;
                ANALYZE load_pool; ANALYZE load_pool_search;
                TRUNCATE feeds, entries RESTART IDENTITY CASCADE"""
            )

    # --- feeds ---

    async def _add_feeds(self) -> None:
        count = self._profiles.feeds
        self._progress.begin(f"{count:,} feeds")
        profiles = [self._profiles.profile(number) for number in range(1, count + 1)]
        chance = random.Random("feeds")
        names = [*self._feed_row(profiles[0], chance)]
        async with self._connection() as one:
            rows = (tuple(self._feed_row(profile, chance).values()) for profile in self._progress.follow(profiles))
            await one.copy_records_to_table("feeds", records=rows, columns=names)
            await one.execute("SELECT setval('feeds_id_seq', max(id)) FROM feeds")
            await self._note_rounds(one, profiles)

    def _feed_row(self, feed: FeedProfile, chance: random.Random) -> dict[str, Any]:
        """The columns that a refresh sets; the others have their defaults."""
        last = datetime.fromtimestamp(feed.last_at, UTC)
        is_dead = feed.answers == DEAD
        gap = timedelta(seconds=feed.rhythm.period)
        pattern = cadence.PublishingPattern(gap, last)
        interval = cadence.LONGEST_SILENT_INTERVAL if is_dead else cadence.automatic_interval(self._now, pattern)
        due_at = self._now + interval * chance.random()
        fetched_at = to_iso(due_at - interval)
        rules, failure = cadence.CadenceSettings(), Message("fetch.host_not_found")
        schedule = (
            cadence.after_failure(self._now, DEAD_FAILURES, failure, rules, 0.5)
            if is_dead
            else cadence.after_success(self._now, pattern, None, cadence.PollingHints(), rules, 0.5)
        )
        has_etag = feed.answers not in (NO_VALIDATORS, DEAD)
        return {
            "id": feed.number,
            "url": feed.url,
            "host": feed.host,
            "title": f"Feed {feed.number}",
            "site_url": "https://news.example/",
            "description": "For the run at scale",
            "status": "error" if is_dead else "active",
            "added_by_person": 1,
            "etag": f'"{feed.number}-{feed.stored - 1}"' if has_etag else None,
            "body_sha256": f"{feed.number:064x}",
            "descriptor_sha256": f"{feed.number:064x}",
            "next_fetch_at": to_iso(due_at),
            "next_fetch_why": message_to_stored(schedule.why),
            "usual_gap_seconds": feed.rhythm.period,
            "last_fetched_at": fetched_at,
            "last_success_at": to_iso(self._now - timedelta(days=40)) if is_dead else fetched_at,
            "last_entry_at": to_iso(last),
            "consecutive_failures": DEAD_FAILURES if is_dead else 0,
            "last_error": message_to_stored(failure) if is_dead else None,
            "last_error_kind": "dns" if is_dead else None,
            "entry_count": feed.stored,
            "created_at": to_iso(self._now - timedelta(days=400)),
        }

    async def _note_rounds(self, one: Any, profiles: list[FeedProfile]) -> None:
        """Round 0 has the newest entry of each feed, round 1 the one before, and so on; the oldest have low ids."""
        profiles.sort(key=lambda feed: -feed.stored)
        await one.execute(
            "CREATE UNLOGGED TABLE load_feeds (rank bigint, feed_id bigint, stored int, last_at bigint, period bigint);"
            "CREATE UNLOGGED TABLE load_rounds (round int, feeds bigint, first_id bigint)"
        )
        rows = [
            (rank, feed.number, feed.stored, feed.last_at, feed.rhythm.period)
            for rank, feed in enumerate(profiles, start=1)
        ]
        await one.copy_records_to_table("load_feeds", records=rows)
        rounds, first_id, most = [], 0, len(profiles)
        sizes = [0] * profiles[0].stored
        for feed in profiles:
            sizes[feed.stored - 1] += 1
        for number in range(len(sizes)):
            rounds.append((number, most))
            most -= sizes[number]
        numbered = []
        for number, feeds in reversed(rounds):
            numbered.append((number, feeds, first_id))
            first_id += feeds
        self._entries = first_id
        await one.copy_records_to_table("load_rounds", records=numbered)
        await one.execute("CREATE INDEX ON load_feeds (rank); ANALYZE load_feeds; ANALYZE load_rounds")

    # --- entries and the search index ---

    async def _fill_entries(self) -> None:
        dropped = {table: await self._drop_indexes(table) for table in TABLES}
        columns = {column.name: ENTRY_COLUMNS.get(column.name, f"p.{column.name}") for column in entries.c}
        await self._copy("entries", "load_pool", columns)
        await asyncio.gather(self._finish_entries(dropped["entries"]), self._fill_search(dropped["search_texts"]))

    async def _finish_entries(self, indexes: list[str]) -> None:
        await self._build("entries", indexes, "512MB")
        async with self._connection() as one:
            await one.execute("SELECT setval('entries_id_seq', max(id)) FROM entries")

    async def _fill_search(self, indexes: list[str]) -> None:
        async with self._connection() as one:
            found = await one.fetch(
                "SELECT attname FROM pg_attribute WHERE attrelid = 'search_texts'::regclass AND attnum > 0"
                " AND NOT attisdropped AND attgenerated = '' ORDER BY attnum"
            )
        columns = {row["attname"]: SEARCH_COLUMNS.get(row["attname"], f"p.{row['attname']}") for row in found}
        await self._copy("search_texts", "load_pool_search", columns)
        await self._build("search_texts", indexes, "2GB")

    async def _drop_indexes(self, table: str) -> list[str]:
        """Drops indexes and constraints but what foreign keys need; returns the statements that bring them back."""
        statements = []
        async with self._connection() as one:
            for row in await one.fetch(INDEXES, table):
                if row["constraint"]:
                    await one.execute(f"ALTER TABLE {table} DROP CONSTRAINT {row['constraint']}")
                    statements.append(f"ALTER TABLE {table} ADD CONSTRAINT {row['constraint']} {row['rule']}")
                else:
                    await one.execute(f"DROP INDEX {row['name']}")
                    statements.append(row["definition"])
        return statements

    async def _copy(self, table: str, pool: str, columns: dict[str, str]) -> None:
        insert = COPIES.format(
            table=table,
            names=", ".join(columns),
            values=", ".join(columns.values()),
            pool=pool,
            place=PLACE,
            count=self.pool,
        )
        async with self._connection() as one:
            rounds = await one.fetch("SELECT round, feeds FROM load_rounds ORDER BY round DESC")
            counting = self._progress.count(f"{self._entries:,} rows of {table}", self._entries)
            async with one.transaction():
                await one.execute(f"TRUNCATE {table} CASCADE")
                highest, waiting = None, 0
                for row in rounds:
                    highest = row["round"] if highest is None else highest
                    waiting += row["feeds"]
                    if waiting >= ROWS_AT_ONCE or row["round"] == 0:
                        await one.execute(insert, row["round"], highest)
                        counting(waiting)
                        highest, waiting = None, 0

    async def _build(self, table: str, indexes: list[str], memory: str) -> None:
        async with self._connection() as one:
            await one.execute(f"SET maintenance_work_mem = '{memory}'")
            for statement in indexes:
                started = time.monotonic()
                async with self._following(table):
                    await one.execute(statement)
                self._progress.say(f"{time.monotonic() - started:.0f} s: {statement[:90]}")
            await one.execute(f"VACUUM (ANALYZE) {table}")

    @asynccontextmanager
    async def _following(self, table: str) -> AsyncIterator[None]:
        """Says now and then how far the build of an index is."""
        task = asyncio.create_task(self._follow_build(table))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _follow_build(self, table: str) -> None:
        started = time.monotonic()
        await asyncio.sleep(SAY_EVERY)
        async with self._connection() as one:
            while True:
                if (row := await one.fetchrow(BUILDING, table)) and row["share"]:
                    left = (time.monotonic() - started) * (1 - row["share"]) / row["share"]
                    self._progress.say(f"  {row['share']:.0%}, {left:.0f} s left: {row['phase']}, {table}")
                await asyncio.sleep(SAY_EVERY)

    # --- users ---

    async def _add_users(self, users: int, reader_feeds: int, popular: int) -> None:
        secret = await hash_password(PASSWORD)
        names = [
            READER,
            *(f"user {number}" for number in range(users)),
            *(f"fan {number}" for number in range(popular)),
        ]
        self._progress.begin(f"{len(names):,} users")
        for chunk in chunked(names, 200):
            await self._db.batch([step for name in chunk for step in steps_to_add_user(name, secret, False, self._now)])
        async with self._connection() as one:
            ids = {row["name"]: row["id"] for row in await one.fetch("SELECT id, name FROM users")}
            pairs = subscriptions_of(users, self._profiles.feeds, reader_feeds, popular)
            created = to_iso(self._now - timedelta(days=300))
            rows = ((ids[name], feed_id, created) for name, feed_id in pairs)
            columns = ["user_id", "feed_id", "created_at"]
            await one.copy_records_to_table("subscriptions", records=rows, columns=columns)
        await add_api_key(self._db, ids[READER], "scale", API_KEY, SCOPES, self._now)

    async def _add_unread(self) -> None:
        self._progress.begin("unread lists")
        async with self._connection() as one:
            await one.execute(UNREAD, MOST_UNREAD)
            await one.execute("ANALYZE unread; " + RECOUNT)

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Any]:
        one = await asyncpg.connect(self._url, server_settings={"session_replication_role": "replica", "jit": "off"})
        try:
            yield one
        finally:
            await one.close()


def pool_size(entries: int) -> int:
    return max(min(MOST_IN_POOL, entries // 10), 100)


def subscriptions_of(users: int, feeds: int, reader_feeds: int, popular: int) -> Iterator[tuple[str, int]]:
    """The name of a user and a feed, for all subscriptions. A few feeds have most of the subscribers."""
    chance = random.Random("subscriptions")
    for number in range(users):
        count = min(
            round(FEWEST_SUBSCRIPTIONS * (MOST_SUBSCRIPTIONS / FEWEST_SUBSCRIPTIONS) ** chance.random()), feeds // 2
        )
        chosen: set[int] = set()
        while len(chosen) < count:
            chosen.add(1 + int(feeds * chance.random() ** 3))
        for feed_id in sorted(chosen):
            yield f"user {number}", feed_id
    for feed_id in sorted(chance.sample(range(1, feeds + 1), min(reader_feeds, feeds))):
        yield READER, feed_id
    for number in range(popular):
        yield f"fan {number}", 1
