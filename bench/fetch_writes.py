"""Measures what an unchanged fetch writes to PostgreSQL: the write-ahead log, dead rows, growth, CPU of the server.

    python bench/fetch_writes.py [--feeds 100000] [--fetches FEEDS] [--rounds 3] [--scan] [--sql STATEMENTS]

Each feed is claimed by a scheduler in chunks, taken over by a worker and recorded as unchanged, by the functions that
scaled-out processes call, ten at a time. Feeds are due in random order. A checkpoint happens twelve times a round, as
every five minutes when each feed is fetched once an hour. The log is split into records and the images of pages that a
checkpoint makes necessary; `records` is what remains with checkpoints far apart. Each round is reported, because
tables and indexes grow until pages have room for new versions of their rows.

With --scan the time of a claim of 1,000 due feeds and of the list of waiting hosts is measured after each round.
"""

import argparse
import asyncio
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT), str(ROOT / "bench")]

from report import Cell, Table, report_table  # noqa: E402
from scale import cpu_seconds, stat  # noqa: E402
from sqlalchemy import text  # noqa: E402

from feedmill.collect.scheduling.cadence import CadenceSettings, PollingHints, PublishingPattern, after_success  # noqa: E402
from feedmill.model.feed import Claim  # noqa: E402
from feedmill.model.refresh import FeedMove, FetchStats, Unchanged  # noqa: E402
from feedmill.store.chunks import chunked  # noqa: E402
from feedmill.store.database import Row  # noqa: E402
from feedmill.store.drivers.postgres import PostgresDatabase  # noqa: E402
from feedmill.store.feeds.claims import claim_due_feeds_minimal, release_claims, take_over_claims  # noqa: E402
from feedmill.store.feeds.record_refresh import record_refresh  # noqa: E402
from feedmill.store.jobs.current_activity import waiting_hosts  # noqa: E402
from feedmill.store.migrations import migrate  # noqa: E402
from tests.services.postgres import own_postgres  # noqa: E402

NOW = datetime(2026, 2, 18, tzinfo=UTC)
CHUNK = 200
AT_ONCE = 10
CHECKPOINTS = 12
TABLES = ("feeds", "fetch_log")
SCANNED = 1000
# As much as a feed of a news site has. Their times are spread over the hour before NOW.
LOAD = """
INSERT INTO feeds (url, host, title, site_url, description, language, icon_url, image_url, etag, last_modified,
  body_sha256, descriptor_sha256, next_fetch_at, next_fetch_why, usual_gap_seconds, polling_hints, last_fetched_at,
  last_success_at, last_entry_at, certificate_until, entry_count, created_at)
SELECT 'https://' || site || '/news/' || md5(n::text) || '/feed.xml', site, 'The news of the site ' || n,
  'https://' || site || '/', 'What happens in the town and around it, every day, by ' || md5('by' || n), 'en-GB',
  'https://' || site || '/favicon.ico', 'https://' || site || '/logo.png',
  '"' || md5('etag' || n) || '"', 'Wed, 18 Feb 2026 08:30:00 GMT', md5('body' || n) || md5(n::text),
  md5('descriptor' || n) || md5('of' || n), due,
  '{"code":"schedule.because","every":{"code":"schedule.every","length":{"seconds":3600.0}},'
  '"because":{"code":"schedule.publishes_per_day","n":12}}',
  7200, '{"ttl_seconds":3600,"period_seconds":3600}', past, past, past, '2026-05-01T00:00:00.000Z', 300,
  '2025-01-01T00:00:00.000Z'
FROM (
  SELECT n, 'www.site-' || n / 5 || '.example.org' AS site,
    to_char(timestamp '2026-02-18' - random() * interval '1 hour', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS due,
    to_char(timestamp '2026-02-17' - random() * interval '1 hour', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS past
  FROM generate_series(1, FEEDS) AS n
) AS made
"""
# Of each kind of record: how many, their bytes, and the bytes of images of pages.
WAL = text(
    "SELECT * FROM pg_get_wal_stats("
    "CAST(CAST(:since AS text) AS pg_lsn), CAST(CAST(:until AS text) AS pg_lsn), per_record => true)"
)
PLACE = text("SELECT CAST(pg_current_wal_flush_lsn() AS text) AS place, pg_backend_pid() AS pid")
SIZES = text(
    "SELECT c.relname AS name, pg_relation_size(c.oid) AS bytes FROM pg_class c JOIN pg_namespace s "
    "ON s.oid = c.relnamespace WHERE s.nspname = 'public' AND (c.relname LIKE 'feeds%' OR c.relname LIKE 'fetch_log%')"
)
ROWS = text("SELECT relname AS name, n_tup_upd, n_tup_hot_upd, n_dead_tup FROM pg_stat_user_tables")


@dataclass(frozen=True, slots=True)
class Reading:
    """What the server has written and used so far."""

    place: str
    seconds: float
    rows: dict[str, Row]
    sizes: dict[str, int]


@dataclass(frozen=True, slots=True)
class WalBytes:
    """What a round wrote, by kind of record."""

    records: Counter[str]
    images: Counter[str]


async def load(db: PostgresDatabase, feeds: int, tried: str) -> None:
    await migrate(db)
    for statement in filter(str.strip, tried.split(";")):
        await db.exec(statement)
    await db.exec("CREATE EXTENSION pg_walinspect")
    await db.exec(LOAD.replace("FEEDS", str(feeds)))
    await db.exec("VACUUM (FREEZE, ANALYZE) feeds")


async def fetch_all(db: PostgresDatabase, fetches: int, interval: int, number: int) -> WalBytes:
    """Fetches those that wait longest, with a checkpoint after every `interval` fetches; what was written."""
    now = NOW + number * timedelta(hours=3)
    log = WalBytes(Counter(), Counter())
    for part in chunked(range(fetches), interval):
        await db.exec("CHECKPOINT")
        since = (await _place(db))["place"]
        for chunk in chunked(part, CHUNK):
            claims = await claim_due_feeds_minimal(db, now, len(chunk))
            taken = await take_over_claims(db, [claim.feed.id for claim in claims], claims[0].token, now)
            now += timedelta(milliseconds=500)
            for some in chunked(taken, AT_ONCE):
                await asyncio.gather(*(record_refresh(db, claim, unchanged(claim, number)) for claim in some))
        await _add(db, log, since)
    return log


def unchanged(claim: Claim, number: int) -> Unchanged:
    """A 304 whose schedule has the reason of the last one, as nearly always."""
    now = NOW + number * timedelta(hours=3) + timedelta(milliseconds=claim.feed.id % 1_000_000)
    pattern = PublishingPattern(timedelta(hours=2), now - timedelta(hours=3))
    schedule = after_success(now, pattern, None, PollingHints(), CadenceSettings(), random.random())
    stats = FetchStats(now, timedelta(milliseconds=random.randint(40, 900)), 304, random.randint(150, 400))
    return Unchanged(stats, schedule, claim.feed.etag, claim.feed.last_modified, FeedMove())


async def _place(db: PostgresDatabase) -> Row:
    [row] = await db.query(PLACE)
    return row


async def _add(db: PostgresDatabase, log: WalBytes, since: str) -> None:
    """Adds what was written since that place, by kind of record; without the checkpoint itself."""
    until = (await _place(db))["place"]
    for row in await db.query(WAL, {"since": since, "until": until}):
        kind = row["resource_manager/record_type"]
        if kind.startswith("XLOG/") and "FPI" not in kind:
            continue
        log.records[kind] += int(row["record_size"])
        log.images[kind] += int(row["fpi_size"])


async def read(db: PostgresDatabase) -> Reading:
    place = await _place(db)
    server = int(stat(place["pid"])[1])
    children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
    seconds = cpu_seconds(server, with_ended=True) + sum(cpu_seconds(int(child)) for child in children)
    rows = {row["name"]: row for row in await db.query(ROWS) if row["name"].startswith(TABLES)}
    return Reading(place["place"], seconds, rows, {row["name"]: row["bytes"] for row in await db.query(SIZES)})


def line(number: int, log: WalBytes, before: Reading, after: Reading, fetches: int) -> list[Cell]:
    changed = after.rows["feeds"]["n_tup_upd"] - before.rows["feeds"]["n_tup_upd"]
    hot = after.rows["feeds"]["n_tup_hot_upd"] - before.rows["feeds"]["n_tup_hot_upd"]
    return [
        f"round {number}",
        log.records.total() / fetches,
        log.images.total() / fetches,
        100 * hot / changed,
        after.rows["feeds"]["n_dead_tup"],
        1000 * (after.seconds - before.seconds) / fetches,
        *(after.sizes[name] / 2**20 for name in ("feeds", "feeds_due")),
        sum(size for name, size in after.sizes.items() if name.startswith("fetch_log")) / 2**20,
    ]


def show_kinds(log: WalBytes, fetches: int) -> None:
    """The kinds of records that take most, in bytes per fetch."""
    for kind, size in log.records.most_common(12):
        print(f"  {kind:28}{size / fetches:8.0f}{log.images[kind] / fetches:10.0f}")


def show_growth(before: Reading, after: Reading) -> None:
    for name, size in sorted(after.sizes.items()):
        print(f"  {name:28}{before.sizes.get(name, 0) / 2**20:8.1f} -> {size / 2**20:.1f} MB")


async def show_scan(db: PostgresDatabase, number: int) -> None:
    """Times a claim, which is released again, and the list of hosts with due feeds."""
    now = NOW + number * timedelta(hours=3)
    begun = time.perf_counter()
    claims = await claim_due_feeds_minimal(db, now, SCANNED)
    claimed = time.perf_counter()
    hosts = await waiting_hosts(db, now, 100)
    listed = time.perf_counter()
    await release_claims(db, claims)
    took = f"{len(claims)} claimed in {1000 * (claimed - begun):.0f} ms"
    print(f"  {took}, {len(hosts)} waiting hosts in {1000 * (listed - claimed):.0f} ms", flush=True)


async def measure(db: PostgresDatabase, feeds: int, fetches: int, rounds: int, *, with_scan: bool, tried: str) -> None:
    await load(db, feeds, tried)
    lines = []
    first = await read(db)
    for number in range(1, rounds + 1):
        if with_scan:
            await show_scan(db, number)
        before = await read(db)
        log = await fetch_all(db, fetches, max(CHUNK, feeds // CHECKPOINTS), number)
        after = await read(db)
        lines.append(line(number, log, before, after, fetches))
        print(lines[-1], flush=True)
    show_kinds(log, fetches)
    show_growth(first, after)
    columns = ["", "records B", "images B", "HOT %", "dead rows", "CPU ms", "feeds MB", "feeds_due MB", "log MB"]
    report_table(Table(f"What an unchanged fetch writes: {feeds} feeds, {fetches} fetches a round", columns, lines))


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--feeds", type=int, default=100_000)
    parser.add_argument("--fetches", type=int)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scan", action="store_true")
    parser.add_argument("--sql", default="", help="statements to try, run on the empty database; separated by ;")
    args = parser.parse_args()
    with own_postgres() as postgres:
        db = PostgresDatabase(postgres.service.url)
        await measure(db, args.feeds, args.fetches or args.feeds, args.rounds, with_scan=args.scan, tried=args.sql)
        await db.close()


if __name__ == "__main__":
    asyncio.run(main())
