"""Measures a run every few seconds: the database, its tables, every process, Redis. The samples are rows of a CSV."""

import asyncio
import csv
import json
import os
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg
from fast_clock import FastClock
from lateness import difference, percentile, sum_counts
from redis.asyncio import Redis
from redis.exceptions import RedisError
from report import Cell, Table

from feedmill.model.timestamps import to_iso
from feedmill.store.schema import feeds, metadata

UNREACHABLE = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError)
TICKS = os.sysconf("SC_CLK_TCK")
WATCHED = ("feeds", "feed_claims", "fetch_log", "entries", "search_texts", "unread", "story_keys")
KINDS = ("updated", "unchanged", "failed", "postponed", "postponed_by_scheduler", "new_entries", "revised")
FETCHED = ("updated", "unchanged", "failed")
WAL = "SELECT wal_records, wal_fpi, wal_bytes FROM pg_stat_wal"
SIZES = (
    "SELECT sum(pg_table_size(relid))::bigint AS size, sum(pg_indexes_size(relid))::bigint AS indexes, "
    "sum(n_dead_tup)::bigint AS dead, sum(autovacuum_count)::bigint AS vacuums, "
    "sum(n_tup_hot_upd)::bigint AS hot, sum(n_tup_upd)::bigint AS updates FROM pg_stat_user_tables "
    "WHERE relid = to_regclass($1) OR relid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = to_regclass($1))"
)
VACUUMS = "SELECT count(*) FROM pg_stat_progress_vacuum"
# A claimed feed stays due until its fetch is recorded. No index has the claims, and a scan of all feeds takes its time.
DUE = "SELECT count(*) AS due, count(claim_token) AS claims FROM feeds WHERE next_fetch_at <= $1"
# Of a file, to find its last line: longer than two lines.
END = 100_000

Sample = dict[str, float | int | None]


class Totals(NamedTuple):
    """What all workers have recorded, and how late: at the crowded host, and at all others."""

    kinds: dict[str, int]
    late: dict[str, int]
    late_crowded: dict[str, int]

    @property
    def fetched(self) -> int:
        return sum(self.kinds.get(kind, 0) for kind in FETCHED)


class Monitor:
    """`pids` has the running processes by name; it may change during the run."""

    def __init__(self, url: str, clock: FastClock, folder: Path, pids: dict[str, int], redis_url: str | None) -> None:
        self._url, self._clock, self._folder, self.pids = url, clock, folder, pids
        self._redis = Redis.from_url(redis_url) if redis_url else None
        self._postmaster: int | None = None
        # By role and process, also of those that have ended.
        self._cpu: dict[str, dict[int, float]] = {}
        self.samples: list[Sample] = []
        self._before = Totals({}, {}, {})

    async def keep_sampling(self, every: float) -> None:
        while True:
            try:
                await self.sample()
            except UNREACHABLE:
                # The database is failing over, and the next sample is of the new primary.
                self._postmaster = None
            await asyncio.sleep(every)

    async def sample(self) -> Sample:
        one = await asyncpg.connect(self._url, timeout=5)
        try:
            # The main thread also reads pages meanwhile, and how long they take is measured.
            sample = await asyncio.to_thread(self._of_workers)
            sample |= await self._of_database(one)
            sample |= await asyncio.to_thread(self._of_processes)
        finally:
            await one.close()
        sample |= await self._of_redis()
        self.samples.append(sample)
        return sample

    def write(self, path: Path) -> None:
        names = list(dict.fromkeys(name for sample in self.samples for name in sample))
        with path.open("w", newline="") as file:
            rows = csv.DictWriter(file, names)
            rows.writeheader()
            rows.writerows(self.samples)

    def totals(self) -> Totals:
        """Also of workers that have ended."""
        lines = [line for file in self._folder.glob("*.jsonl") if (line := last_line(file))]
        return Totals(*(sum_counts(line[name] for line in lines) for name in Totals._fields))

    def _of_workers(self) -> Sample:
        totals, earlier = self.totals(), self._before
        self._before = totals
        late = difference(totals.late, earlier.late)
        late_crowded = difference(totals.late_crowded, earlier.late_crowded)
        seconds, fetched = time.time() - self._clock.real_start, totals.fetched
        before = self.samples[-1] if self.samples else {"seconds": 0, "fetched": 0}
        passed = seconds - (before["seconds"] or 0)
        return {
            "seconds": round(seconds, 2),
            "hours": (self._clock.seconds() - self._clock.start) / 3600,
            "fetched": fetched,
            "fetches_per_second": (fetched - (before["fetched"] or 0)) / max(passed, 0.01),
            **{kind: totals.kinds.get(kind, 0) for kind in KINDS},
            "late_p50": percentile(late, 0.5),
            "late_p99": percentile(late, 0.99),
            "late_crowded_p50": percentile(late_crowded, 0.5),
            "late_crowded_p99": percentile(late_crowded, 0.99),
        }

    async def _of_database(self, one: Any) -> Sample:
        if self._postmaster is None:
            self._postmaster = parent(await one.fetchval("SELECT pg_backend_pid()")) if is_local(self._url) else None
        wal = await one.fetchrow(WAL)
        due = await one.fetchrow(DUE, to_iso(self._clock.now()))
        found: Sample = {
            "wal_records": int(wal["wal_records"]),
            "wal_full_pages": int(wal["wal_fpi"]),
            "wal_bytes": int(wal["wal_bytes"]),
            "database_bytes": await one.fetchval("SELECT pg_database_size(current_database())"),
            "vacuums_running": await one.fetchval(VACUUMS),
            "due": due["due"],
            "claims": due["claims"],
        }
        for table in WATCHED:
            row = await one.fetchrow(SIZES, table)
            if row["size"] is not None:
                found |= {f"{table}_{name}": value for name, value in row.items()}
        return found

    def _of_processes(self) -> Sample:
        groups: dict[str, list[int]] = {"run": [os.getpid()]}
        for name, pid in self.pids.items():
            groups.setdefault(name.partition("-")[0], []).append(pid)
        found: Sample = {}
        for role, pids in groups.items():
            seen = self._cpu.setdefault(role, {})
            seen.update({pid: seconds for pid in pids if (seconds := cpu_seconds(pid))})
            found[f"{role}_cpu"] = sum(seen.values())
            found[f"{role}_memory"] = sum(map(memory, pids)) or None
        return found | self._of_postgresql()

    def _of_postgresql(self) -> Sample:
        if self._postmaster is None:
            return {}
        backends = children(self._postmaster)
        cpu = cpu_seconds(self._postmaster, with_ended=True) + sum(map(cpu_seconds, backends))
        return {"postgresql_cpu": cpu, "postgresql_memory": sum(map(memory, [self._postmaster, *backends])) or None}

    async def _of_redis(self) -> Sample:
        if self._redis is None:
            return {}
        try:
            info = await self._redis.info()
        except (RedisError, OSError):
            return {}
        return {"redis_memory": info["used_memory"], "redis_commands": info["total_commands_processed"]}


async def sizes_of_tables(url: str, of: str) -> Table:
    one = await asyncpg.connect(url)
    try:
        whole = await one.fetchval("SELECT pg_database_size(current_database())")
        rows: list[list[Cell]] = [["all tables", "", "", whole / 1e6]]
        for table in WATCHED:
            row = await one.fetchrow(SIZES, table)
            if row["size"] is not None:
                size, indexes = int(row["size"]), int(row["indexes"])
                rows.append([table, size / 1e6, indexes / 1e6, (size + indexes) / 1e6])
    finally:
        await one.close()
    return Table(f"Sizes with {of}", ["", "rows, MB", "indexes, MB", "both, MB"], rows)


def claims_sql() -> str:
    """How many feeds are claimed, wherever the schema has the claims."""
    table = metadata.tables.get("feed_claims", feeds)
    column = "claim_token" if "claim_token" in table.c else None
    return f"SELECT count(*) FROM {table.name}" + (f" WHERE {column} IS NOT NULL" if column else "")


def last_line(file: Path) -> dict[str, Any] | None:
    with file.open("rb") as open_file:
        open_file.seek(max(file.stat().st_size - END, 0))
        lines = open_file.read().splitlines()
    # The last one may be half written.
    for line in reversed(lines[-2:]):
        try:
            found: dict[str, Any] = json.loads(line)
        except ValueError:
            continue
        return found
    return None


def is_local(url: str) -> bool:
    return "127.0.0.1" in url


def parent(pid: int) -> int:
    return int(_stat(pid)[1])


def children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def cpu_seconds(pid: int, with_ended: bool = False) -> float:
    try:
        return sum(map(int, _stat(pid)[11 : 15 if with_ended else 13])) / TICKS
    except OSError:
        return 0.0


def memory(pid: int) -> int:
    """The share of the physical memory that the process has, in bytes."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def grown(samples: Sequence[Mapping[str, Any]], name: str) -> float:
    """By how much a counter grew. One that begins again is that of another server, or of none."""
    values = [float(sample[name]) for sample in samples if sample.get(name) is not None]
    return sum(max(later - earlier, 0) for earlier, later in pairwise(values))
