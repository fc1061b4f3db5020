"""A day of many feeds in PostgreSQL, with a clock that runs faster than ours: `make scale`.

    python bench/scale_run/run.py [--feeds 1000000] [--entries 20000000] [--hours 24] [--minutes 25] [--workers 2]
        [--words 30] [--engine embedded|celery] [--faults] [--keep FOLDER] [--only-load] [--plots]

Loads a database (or finds the one that an earlier run left in FOLDER), lets the real scheduler, job handlers and
refreshes work through a day against a web in process memory, reads pages meanwhile, and checks that nothing was lost
or doubled. `--faults` needs celery: a worker is killed every minute, Redis is restarted twice, and PostgreSQL fails
over once to its standby.
"""

import argparse
import asyncio
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import AsyncExitStack, ExitStack, nullcontext
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from secrets import token_hex
from typing import Any

import aiohttp
import asyncpg
import uvloop

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT), str(ROOT / "bench"), str(Path(__file__).parent)]

from articles import WORDS  # noqa: E402
from check_run import Findings, check_day, check_loaded  # noqa: E402
from day_report import day_tables, grown  # noqa: E402
from fast_clock import FastClock, begin_day  # noqa: E402
from feed_profiles import ANSWERS, RHYTHMS, FeedProfiles  # noqa: E402
from lateness import percentile  # noqa: E402
from load import SETTINGS, Loader, pool_size  # noqa: E402
from monitor import Monitor, cpu_of, sizes_of_tables  # noqa: E402
from plots import plots_of, write_plots  # noqa: E402
from progress import Progress  # noqa: E402
from readers import Reader, percentiles  # noqa: E402
from report import report_table  # noqa: E402
from simulated_web import SimulatedWeb  # noqa: E402

from faults import make_faults  # noqa: E402
from feedmill.coordination.memory import MemoryHostSlots  # noqa: E402
from feedmill.model.timestamps import to_iso  # noqa: E402
from feedmill.store.drivers.postgres import PostgresDatabase  # noqa: E402
from feedmill.store.migrations import migrate  # noqa: E402
from tests.services.postgres import own_postgres  # noqa: E402
from tests.services.postgres_replica import standby_of  # noqa: E402
from tests.services.redis import own_redis  # noqa: E402
from tests.services.server import Restartable, free_port, hand_over  # noqa: E402

IMAGES = ROOT / "docs" / "images"
MOST_DISK = 60e9
LEFT_FREE = 5e9
# Measured: tables and indexes of an entry of 30 words, of a feed, and of each further word in text and index.
BYTES_PER_ENTRY, BYTES_PER_FEED, BYTES_PER_WORD = 2400, 2500, 20
DAY_SETTINGS = (
    "shared_buffers=2GB",
    "max_wal_size=8GB",
    "checkpoint_timeout=15min",
    "wal_compression=on",
    "effective_cache_size=8GB",
    "autovacuum_naptime=15s",
)
# The days of a kept database end before the present, so that pages, whose clock is ours, have no entries of the future.
BEFORE_NOW = timedelta(days=8)
LEASE_SECONDS = 30.0
LONGEST_CATCH_UP = 900


class Run:
    def __init__(self, options: argparse.Namespace, folder: Path, progress: Progress) -> None:
        self.options, self.folder, self.progress = options, folder, progress
        self.start = self._start_of_day()
        self.profiles = FeedProfiles(options.feeds, options.entries, self.start)
        self.pool = pool_size(options.entries)
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.pids: dict[str, int] = {}
        self.kills = 0

    def _start_of_day(self) -> int:
        """Kept with the data, because all dates in the database depend on it."""
        file = self.folder / "start"
        if not file.exists():
            file.write_text(str(int((datetime.now(UTC) - BEFORE_NOW).timestamp())))
        return int(file.read_text())

    def _begin(self) -> int:
        """Where the last run with this database ended, or the start of its first day."""
        file = self.folder / "ended"
        return int(file.read_text()) if file.exists() else self.start

    # --- loading ---

    async def load(self) -> None:
        done = self.folder / "loaded"
        if done.exists():
            if done.read_text() != self._size():
                raise SystemExit(f"{self.folder} has other data: {done.read_text()}")
            return
        options, copies = self.options, 2 if self.options.faults else 1
        check_disk(self.folder, options.feeds * copies, options.entries * copies, options.words)
        with own_postgres(self.folder, settings=SETTINGS) as server:
            db = PostgresDatabase(server.service.url)
            await migrate(db)
            loader = Loader(db, server.service.url, self.profiles, options.entries, options.words, self.progress)
            await loader.load(options.users, min(options.reader_feeds, options.feeds), options.popular)
            self.progress.begin("checking what was loaded")
            clock = FastClock(self.start, time.time(), 1)
            web = SimulatedWeb(self.profiles, clock, self.pool, options.words, MemoryHostSlots())
            report_problems(await check_loaded(db, server.service.url, self.profiles, web))
            await db.close()
            report_table(await sizes_of_tables(server.service.url, self._size()))
        done.write_text(self._size())
        self.progress.say("loaded")

    def _size(self) -> str:
        options = self.options
        return (
            f"{options.feeds} feeds, {options.entries} entries of {options.words} words, "
            f"{options.users} users, {options.popular} fans"
        )

    # --- the day ---

    async def day(self) -> dict[str, Any]:
        options = self.options
        speed = options.hours * 60 / options.minutes
        async with AsyncExitStack() as closing:
            primary = closing.enter_context(own_postgres(self.folder, settings=DAY_SETTINGS))
            standby = closing.enter_context(standby_of(primary) if options.faults else nullcontext(None))
            redis = closing.enter_context(own_redis() if options.engine == "celery" else nullcontext(None))
            url = both_urls(primary, standby)
            self.work = work = Path(closing.enter_context(tempfile.TemporaryDirectory()))
            api_port = free_port()
            begins_at = self._begin()
            plan = self._plan(work, url, redis, begins_at, speed, api_port)
            (work / "plan.json").write_text(json.dumps(plan))
            closing.callback(self._end_processes)
            self._start_processes(work)
            clock = FastClock(begins_at, await self._until_ready(work), speed)
            monitor = Monitor(url, clock, work, self.pids, redis and redis.service.url)
            self.progress.begin(f"{options.hours:g} hours at {speed:.0f} times the speed, {options.workers} worker(s)")
            http = await closing.enter_async_context(open_session(api_port))
            reader = Reader(http, clock)
            tasks = [asyncio.create_task(monitor.keep_sampling(options.every))]
            tasks.append(asyncio.create_task(self._read(http, reader)))
            if standby is not None and redis is not None:
                faults = make_faults(self, work, primary, standby, redis, options.minutes * 60, options.workers)
                tasks.append(asyncio.create_task(faults))
            try:
                await self._pass_the_day(clock, monitor)
                caught_up = await self._catch_up(clock, monitor, url)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            self._end_processes()
            (self.folder / "ended").write_text(str(int(clock.seconds()) + 1))
            await monitor.sample()
            return await self._results(url, clock, monitor, reader, caught_up)

    def _plan(
        self, work: Path, url: str, redis: Restartable | None, start: int, speed: float, api_port: int
    ) -> dict[str, Any]:
        settings = {
            "database": url,
            "redis": redis.service.url if redis else "",
            "data": str(work),
            "objects": str(work / "objects"),
            "secret_key": token_hex(32),
            "port": api_port,
            "log_level": "error",
        }
        return {
            "settings": settings,
            "folder": str(work),
            "feeds": self.options.feeds,
            "entries": self.options.entries,
            "pool": self.pool,
            "words": self.options.words,
            "first_day": self.start,
            "start": start,
            "speed": speed,
            "lease_seconds": LEASE_SECONDS,
        }

    def _start_processes(self, work: Path) -> None:
        role = "worker" if self.options.engine == "celery" else "embedded"
        names = [f"{role}-{number}" for number in range(1, self.options.workers + 1)]
        names += ["scheduler-1", "scheduler-2"] if self.options.engine == "celery" else []
        for name in [*names, "api-1"]:
            self.start_process(work, name)

    async def _until_ready(self, work: Path) -> float:
        waiting = asyncio.create_task(begin_day(work, [name for name in self.processes if not name.startswith("api")]))
        while not waiting.done():
            self._check_processes()
            await asyncio.sleep(0.1)
        return await waiting

    def start_process(self, work: Path, name: str) -> None:
        # A process that replaces another one writes a file of its own.
        command = [sys.executable, str(Path(__file__).parent / "worker.py"), str(work / "plan.json"), name]
        with (work / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(command, cwd=work, stdout=log, stderr=log)
        self.pids[name] = self.processes[name].pid

    def kill_process(self, name: str) -> None:
        self.processes.pop(name).kill()
        self.pids.pop(name)
        self.kills += 1

    def _end_processes(self) -> None:
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
        self.processes.clear()

    async def _pass_the_day(self, clock: FastClock, monitor: Monitor) -> None:
        end = clock.start + self.options.hours * 3600
        while clock.seconds() < end:
            await asyncio.sleep(min(20, max((end - clock.seconds()) / clock.speed, 0.1)))
            if monitor.samples:
                self._say(monitor.samples[-1])
            self._check_processes()

    def _check_processes(self) -> None:
        for name, process in self.processes.items():
            if process.poll() is not None:
                raise SystemExit(f"{name} ended: {(self.work / f'{name}.log').read_text()[-3000:]}")

    def _say(self, sample: dict[str, Any]) -> None:
        late = sample["late_p99"]
        self.progress.say(
            f"{sample['hours']:.1f} of {self.options.hours:g} h: {sample['fetched']:,} fetches, "
            f"{sample['fetches_per_second']:.0f} a second, p99 {'–' if late is None else round(late)} s late, "
            f"{sample['due']:,} due, {sample['claims']:,} claimed"
        )

    async def _catch_up(self, clock: FastClock, monitor: Monitor, url: str) -> float:
        """Waits until everything that was due when the day ended is fetched; the real seconds that took."""
        end, started = to_iso(datetime.fromtimestamp(clock.start + self.options.hours * 3600, UTC)), time.monotonic()
        while time.monotonic() - started < LONGEST_CATCH_UP:
            one = await asyncpg.connect(url)
            try:
                left = await one.fetchval("SELECT count(*) FROM feeds WHERE next_fetch_at <= $1", end)
            finally:
                await one.close()
            self._check_processes()
            if not left:
                return time.monotonic() - started
            await asyncio.sleep(1)
        raise SystemExit(f"{left:,} feeds that were due are not fetched after {LONGEST_CATCH_UP} s")

    async def _read(self, http: aiohttp.ClientSession, reader: Reader) -> None:
        while True:
            try:
                async with http.get("/health"):
                    break
            except aiohttp.ClientError:
                await asyncio.sleep(0.2)
        await reader.keep_reading()

    # --- what it was ---

    async def _results(
        self, url: str, clock: FastClock, monitor: Monitor, reader: Reader, caught_up: float
    ) -> dict[str, Any]:
        kinds, lateness = monitor.totals()
        db = PostgresDatabase(url)
        findings = await check_day(db, url, self.profiles, clock.start, kinds, self.kills)
        await db.close()
        output = self.options.output
        output.mkdir(parents=True, exist_ok=True)
        monitor.write(output / "samples.csv")
        if self.options.plots:
            write_plots(plots_of(monitor.samples, reader.times), self.options.images)
        fetched = sum(kinds.get(kind, 0) for kind in ("updated", "unchanged", "failed"))
        names = dict.fromkeys(name.removesuffix("_cpu") for s in monitor.samples for name in s if name.endswith("_cpu"))
        results: dict[str, Any] = {
            "options": {name: str(value) for name, value in vars(self.options).items()},
            "speed": clock.speed,
            "seconds": monitor.samples[-1]["seconds"],
            "recorded": kinds,
            "fetched": fetched,
            "late": {str(share): percentile(lateness, share) for share in (0.5, 0.9, 0.99, 0.999)},
            "caught_up_after": caught_up,
            "kills": self.kills,
            "cpu_ms_per_fetch": {name: cpu_of(monitor.samples, name) * 1000 / max(fetched, 1) for name in names},
            "wal_bytes_per_fetch": grown(monitor.samples, "wal_bytes") / max(fetched, 1),
            "pages": percentiles(reader.times),
            "failed_pages": reader.failures[:20],
            "checked": findings.figures,
            "problems": findings.problems,
        }
        title = f"{self.options.hours:g} hours of {self._size()}"
        tables = day_tables(title, results, monitor.samples)
        results["tables"] = list(map(asdict, tables))
        (output / "results.json").write_text(json.dumps(results, indent=1))
        for table in tables:
            report_table(table)
        report_problems(findings)
        return results


def open_session(port: int) -> aiohttp.ClientSession:
    # Cookies of an address are ignored otherwise.
    return aiohttp.ClientSession(f"http://127.0.0.1:{port}", cookie_jar=aiohttp.CookieJar(unsafe=True))


def check_disk(folder: Path, feeds: int, entries: int, words: int) -> None:
    needed = feeds * BYTES_PER_FEED + entries * (BYTES_PER_ENTRY + max(words - WORDS, 0) * BYTES_PER_WORD)
    free = shutil.disk_usage(folder).free
    if needed > min(MOST_DISK, free - LEFT_FREE):
        most = min(MOST_DISK, max(free - LEFT_FREE, 0)) / 1e9
        raise SystemExit(f"this takes about {needed / 1e9:.0f} GB, and {most:.0f} GB may be used in {folder}")


def both_urls(primary: Restartable, standby: Restartable | None) -> str:
    url = primary.service.url
    if standby is None:
        return url
    other = standby.service.url.partition("@")[2].partition("/")[0]
    return f"{url.rpartition('/')[0]},{other}/postgres?target_session_attrs=read-write"


def report_problems(findings: Findings) -> None:
    for problem in findings.problems:
        print(f"PROBLEM: {problem}", flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--feeds", type=int, default=1_000_000)
    parser.add_argument("--entries", type=int, default=20_000_000)
    parser.add_argument("--users", type=int, default=1000)
    parser.add_argument("--reader-feeds", type=int, default=5000, help="feeds of the one who reads")
    parser.add_argument("--popular", type=int, default=0, help="users that all have the same feed, beside the others")
    parser.add_argument("--words", type=int, default=WORDS, help="words of an article on average")
    parser.add_argument("--hours", type=float, default=24, help="simulated hours")
    parser.add_argument("--minutes", type=float, default=25, help="how long they last")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--engine", choices=("embedded", "celery"), default="embedded")
    parser.add_argument("--faults", action="store_true")
    parser.add_argument("--every", type=float, default=10, help="real seconds between two samples")
    parser.add_argument("--keep", type=Path, help="the folder of the database, loaded once")
    parser.add_argument("--only-load", action="store_true", help="leaves the day to a later run with --keep")
    parser.add_argument("--output", type=Path, default=Path("scale-results"))
    parser.add_argument("--plots", action="store_true", help="draws the plots of the documentation")
    parser.add_argument("--images", type=Path, default=IMAGES)
    return parser.parse_args()


async def main() -> None:
    options = arguments()
    if options.only_load and not options.keep:
        raise SystemExit("--only-load needs --keep")
    if options.faults and options.engine != "celery":
        raise SystemExit("--faults needs --engine celery")
    if options.faults and options.keep:
        raise SystemExit("--faults leaves the newest data in a standby that is thrown away: not with --keep")
    for rhythm in RHYTHMS:
        print(
            f"{rhythm.share:6.1%} of the feeds publish {rhythm.name}, about {rhythm.stored:g} entries stored per feed"
        )
    print(", ".join(f"{share:.1%} {name}" for name, share in ANSWERS), "feeds", flush=True)
    with ExitStack() as closing:
        folder = options.keep or Path(closing.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        hand_over(folder)
        run = Run(options, folder, Progress())
        await run.load()
        if options.only_load:
            return
        results = await run.day()
    if results["problems"]:
        raise SystemExit(1)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    uvloop.run(main())
