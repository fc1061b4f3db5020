"""Benchmarks refreshing by Celery workers against the embedded engine, all on PostgreSQL.

usage: python bench/scale.py [--feeds 2000] [--workers 1,2,4] [--known]        (the long form: --feeds 20000)

Needs the feed farm of ../shared, PostgreSQL and Redis. Every feed is due at once: first when it is new, then
unchanged, then with two new entries in one of ten. Images are not archived. The rate and the CPU time of the
refreshing processes and of PostgreSQL are measured between the first and the last twentieth, so that their start does
not count; lateness is the time from when the feeds were due to their fetch. A worker's share of the embedded engine
is given by rate, per process, and by CPU time, which is more reliable with more processes than cores.

With --known the feeds have validators as if they had been fetched before, so that there is no first phase and all
entries of a changed feed are new: many feeds in little time.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import redis
from sqlalchemy import bindparam, func, select, text, update

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT), str(ROOT / "bench")]

from refresh import FARM, Farm  # noqa: E402
from report import Cell, Table, report_table  # noqa: E402

from feedmill.engine.celery_app import make_celery  # noqa: E402
from feedmill.engine.task_names import HIGH_QUEUE, SCAN_DUE_FEEDS  # noqa: E402
from feedmill.model.timestamps import from_iso, to_iso  # noqa: E402
from feedmill.store.database import Database, Step  # noqa: E402
from feedmill.store.drivers.postgres import PostgresDatabase  # noqa: E402
from feedmill.store.feeds.add_feeds import NewFeed, add_feeds  # noqa: E402
from feedmill.store.migrations import migrate  # noqa: E402
from feedmill.store.schema import feeds, locks, metadata, migrations  # noqa: E402
from tests.services.postgres import own_postgres  # noqa: E402
from tests.services.redis import running_redis  # noqa: E402
from tests.services.server import free_port  # noqa: E402

ROWS = [table for table in metadata.sorted_tables if table not in (migrations, locks)]
TICKS = os.sysconf("SC_CLK_TCK")
PHASES = ("first", "unchanged", "changed")
GIVE_UP = 1800
KNOW = update(feeds).where(feeds.c.url == bindparam("at")).values(etag=bindparam("tag"))
HEADINGS = ("feeds/s", "CPU ms/feed", "PostgreSQL", "late p99 s", "messages/1000", "by rate", "by CPU")
Processes = list[subprocess.Popen[bytes]]


@dataclass
class Figures:
    rate: float
    cpu_ms: float
    database_ms: float
    late_p99: float
    messages: float | None


class Bench:
    def __init__(self, db: Database, farm: Farm, count: int, env: dict[str, str], redis_url: str, known: bool) -> None:
        self.db, self.farm, self.count, self.env, self.redis_url = db, farm, count, env, redis_url
        self.redis = redis.Redis.from_url(redis_url)
        self.phases = PHASES[1:] if known else PHASES

    async def get_to_know(self) -> None:
        """Stores the validators of all feeds, which change with each run, as if they had been fetched."""
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=20)) as session:

            async def etag_of(url: str) -> dict[str, str]:
                async with session.get(url) as answer:
                    return {"at": url, "tag": answer.headers["ETag"]}

            etags = await asyncio.gather(*map(etag_of, self.farm.urls))
        await self.db.batch([Step(KNOW, etags)])

    async def run(self, workers: int) -> dict[str, Figures]:
        """The phases with that many workers, or with the embedded engine for none."""
        # Not deleted row by row: dead rows would slow down the next phase.
        await self.db.batch([Step(text(f"TRUNCATE {', '.join(table.name for table in ROWS)} CASCADE"))])
        self.redis.flushall()
        self.farm.get("/admin/reset")
        tomorrow = datetime.now(UTC) + timedelta(days=1)
        await add_feeds(self.db, [NewFeed(url) for url in self.farm.urls], tomorrow, due_at=tomorrow)
        await self.db.batch([Step(update(feeds).values(archive_policy="none"))])
        if self.phases != PHASES:
            await self.get_to_know()
        with tempfile.TemporaryDirectory() as folder:
            started = [self._start(folder, "worker") for _ in range(workers)] or [self._serve(folder)]
            # Starts a scan every minute; its own CPU time is negligible.
            beat = [self._start(folder, "scheduler")] if workers else []
            try:
                await asyncio.sleep(6)
                return {phase: await self._phase(phase, started, bool(workers)) for phase in self.phases}
            finally:
                for process in started + beat:
                    process.terminate()
                for process in started + beat:
                    process.wait(40)

    async def _phase(self, phase: str, processes: Processes, with_celery: bool) -> Figures:
        if phase == "changed":
            self.farm.get("/admin/advance?share=0.1&k=2")
        due = datetime.now(UTC)
        await self.db.batch([Step(update(feeds).values(next_fetch_at=to_iso(due)))])
        sent = self._messages()
        if with_celery:
            make_celery(self.redis_url).send_task(SCAN_DUE_FEEDS, queue=HIGH_QUEUE)
        begun = await self._until(due, 0.05, processes)
        ended = await self._until(due, 0.95, processes)
        await self._until(due, 1, processes)
        fed = 0.9 * self.count
        seconds, cpu, database = (after - before for before, after in zip(begun, ended, strict=True))
        messages = (self._messages() - sent) * 1000 / self.count if with_celery else None
        late = await self._lateness(due)
        return Figures(fed / seconds, cpu * 1000 / fed, database * 1000 / fed, late, messages)

    async def _until(self, due: datetime, share: float, processes: Processes) -> tuple[float, float, float]:
        """When that share was fetched, and the CPU seconds of us and the database until then."""
        question = select(func.count().label("done")).select_from(feeds).where(feeds.c.last_fetched_at > to_iso(due))
        deadline = time.monotonic() + GIVE_UP
        while True:
            [row] = await self.db.query(question)
            if row["done"] >= share * self.count:
                ours = sum(cpu_seconds(process.pid) for process in processes)
                return time.monotonic(), ours, await self._database_seconds()
            if time.monotonic() > deadline:
                raise SystemExit(f"only {row['done']} feeds were fetched in {GIVE_UP} s")
            await asyncio.sleep(0.1)

    async def _lateness(self, due: datetime) -> float:
        rows = await self.db.query(select(feeds.c.last_fetched_at).order_by(feeds.c.last_fetched_at))
        return (from_iso(rows[int(len(rows) * 0.99)]["last_fetched_at"]) - due).total_seconds()

    async def _database_seconds(self) -> float:
        """CPU seconds of the server, its processes and those that have ended."""
        [row] = await self.db.query(text("SELECT pg_backend_pid() AS pid"))
        server = int(stat(row["pid"])[1])
        children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
        return cpu_seconds(server, with_ended=True) + sum(cpu_seconds(int(child)) for child in children)

    def _messages(self) -> int:
        return int(self.redis.info("commandstats").get("cmdstat_lpush", {}).get("calls", 0))

    def _start(self, folder: str, *command: str, **more: str) -> subprocess.Popen[bytes]:
        env = self.env | {"FEEDMILL_DATA": folder, "FEEDMILL_REDIS": self.redis_url} | more
        return subprocess.Popen(
            [sys.executable, "-m", "feedmill", *command], cwd=folder, env=env, stdout=subprocess.DEVNULL
        )

    def _serve(self, folder: str) -> subprocess.Popen[bytes]:
        return self._start(folder, "serve", "--port", str(free_port()), FEEDMILL_REDIS="")


def stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat, from the state on."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def cpu_seconds(pid: int, with_ended: bool = False) -> float:
    return sum(map(int, stat(pid)[11 : 15 if with_ended else 13])) / TICKS


def line(name: str, phase: str, figures: Figures, embedded: Figures, workers: int) -> list[Cell]:
    return [
        name,
        phase,
        figures.rate,
        figures.cpu_ms,
        figures.database_ms,
        figures.late_p99,
        "–" if figures.messages is None else round(figures.messages),
        figures.rate / embedded.rate / workers if workers else "–",
        embedded.cpu_ms / figures.cpu_ms if workers else "–",
    ]


def _show(rows: list[list[Cell]]) -> None:
    """Prints the results so far, because all take long."""
    for row in rows:
        print(*(f"{cell:.2f}" if isinstance(cell, float) else cell for cell in row), flush=True)


async def measure(bench: Bench, counts: list[int]) -> None:
    embedded = await bench.run(0)
    rows = [line("embedded", phase, figures, figures, 0) for phase, figures in embedded.items()]
    for workers in counts:
        _show(rows[-len(embedded) :])
        measured = await bench.run(workers)
        rows += [line(f"{workers} worker(s)", phase, measured[phase], embedded[phase], workers) for phase in measured]
    report_table(
        Table(
            f"{bench.count} feeds of 30 entries, due at once",
            ["", "phase", *HEADINGS],
            rows,
            f"{os.cpu_count()} cores for everything, feed farm and database included: several workers only share "
            "them. The last two columns compare one worker with the embedded engine. Goal: 0.8.",
        )
    )


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--feeds", type=int, default=2000)
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--known", action="store_true")
    args = parser.parse_args()
    if not FARM.exists():
        raise SystemExit("the feed farm (../shared/feedfarm) is not here")
    with ExitStack() as closing:
        postgres, broker = closing.enter_context(own_postgres()), closing.enter_context(running_redis())
        warmth = {"no_warm": True} if args.known else {}
        farm = Farm(args.feeds, hosts=min(args.feeds, 2000), **warmth)
        closing.callback(farm.end)
        db = PostgresDatabase(postgres.service.url)
        await migrate(db)
        env = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT / "src"),
            "FEEDMILL_DATABASE": postgres.service.url,
            "FEEDMILL_ALLOW_PRIVATE": "127.0.0.0/8",
            "FEEDMILL_HOST_GAP": "0",
            "FEEDMILL_LOG_LEVEL": "error",
        }
        bench = Bench(db, farm, args.feeds, env, broker.url, args.known)
        await measure(bench, [int(count) for count in args.workers.split(",")])
        await db.close()


if __name__ == "__main__":
    asyncio.run(main())
