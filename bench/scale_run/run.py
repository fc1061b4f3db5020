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
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Coroutine, Sequence
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
from check_run import Findings, PassedDay, check_day, check_loaded  # noqa: E402
from day_report import day_tables  # noqa: E402
from day_results import Results, drop_expired_log, run_results  # noqa: E402
from day_settings import day_settings, settings_table  # noqa: E402
from error_logs import count_errors, keep_logs  # noqa: E402
from fast_clock import FastClock  # noqa: E402
from feed_profiles import ANSWERS, RHYTHMS, FeedProfiles  # noqa: E402
from load import SETTINGS, Loader, pool_size  # noqa: E402
from monitor import UNREACHABLE, Monitor, Sample  # noqa: E402
from plots import plots_of, write_plots  # noqa: E402
from prepare_day import prepare_day, sizes_after_load  # noqa: E402
from processes import ProcessEnded, Processes  # noqa: E402
from progress import Progress  # noqa: E402
from readers import Reader  # noqa: E402
from report import Table, report_table  # noqa: E402
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
# The days of a kept database end before the present, so that pages, whose clock is ours, have no entries of the future.
BEFORE_NOW = timedelta(days=8)
LEASE_SECONDS = 30.0
LONGEST_CATCH_UP = 900
MOST_FAILURES = 5


class Run:
    def __init__(self, options: argparse.Namespace, folder: Path, progress: Progress) -> None:
        self.options, self.folder, self.progress = options, folder, progress
        self.start = self._start_of_day()
        self.profiles = FeedProfiles(options.feeds, options.entries, self.start)
        self.pool = pool_size(options.entries)
        self.speed = options.hours * 60 / options.minutes
        self.findings = Findings()
        self.errors: Counter[str] = Counter()

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
            report_table(await sizes_after_load(self.folder, server.service.url, self._size()))
        done.write_text(self._size())
        self.progress.say("loaded")

    def _size(self) -> str:
        options = self.options
        return (
            f"{options.feeds} feeds, {options.entries} entries of {options.words} words, "
            f"{options.users} users, {options.popular} fans"
        )

    # --- the day ---

    async def day(self) -> Results:
        """Passes a day, and leaves what was measured whatever happens meanwhile."""
        options, settings = self.options, day_settings(self.folder / "data", self.speed)
        async with AsyncExitStack() as closing:
            primary = closing.enter_context(own_postgres(self.folder, settings=settings))
            standby = closing.enter_context(standby_of(primary, settings) if options.faults else nullcontext(None))
            redis = closing.enter_context(own_redis() if options.engine == "celery" else nullcontext(None))
            url = both_urls(primary, standby)
            sizes = await sizes_after_load(self.folder, url, self._size())
            tables = [sizes, await settings_table(url, options, self.speed, settings)]
            begins_at = self._begin()
            before = await prepare_day(url, options.feeds, begins_at, begins_at + options.hours * 3600)
            work = Path(closing.enter_context(tempfile.TemporaryDirectory()))
            api_port = free_port()
            plan = self._plan(work, url, redis, begins_at, api_port)
            (work / "plan.json").write_text(json.dumps(plan))
            processes = Processes(work)
            closing.callback(processes.end_all)
            self._start_processes(processes)
            clock = FastClock(begins_at, await processes.begin_day(), self.speed)
            monitor = Monitor(url, clock, work, processes.pids, redis.service.url if redis else None)
            workers = f"{options.workers} worker(s)"
            self.progress.begin(f"{options.hours:g} hours at {self.speed:.0f} times the speed, {workers}")
            http = await closing.enter_async_context(open_session(api_port))
            reader = Reader(http, clock)
            background: dict[str, Coroutine[Any, Any, None]] = {
                "monitor": monitor.keep_sampling(options.every),
                "reader": self._read(http, reader),
            }
            if standby is not None and redis is not None:
                background["faults"] = make_faults(
                    processes, self.progress, primary, standby, redis, options.minutes * 60, options.workers
                )
            tasks = [asyncio.create_task(work, name=name) for name, work in background.items()]
            caught_up = 0.0
            try:
                await self._pass_the_day(clock, monitor, processes)
                caught_up = await self._catch_up(clock, processes, url)
            except ProcessEnded as error:
                self.findings.problems.append(str(error))
            finally:
                await self._end_tasks(tasks)
                await self._end_processes(processes, clock, monitor, work)
            day = PassedDay(self.profiles, clock, before, monitor.totals().kinds, processes.kills)
            return await self._results(url, day, monitor, reader, caught_up, tables)

    def _plan(self, work: Path, url: str, redis: Restartable | None, start: int, api_port: int) -> dict[str, Any]:
        settings = {
            "database": url,
            "redis": redis.service.url if redis else "",
            "data": str(work),
            "objects": str(work / "objects"),
            "secret_key": token_hex(32),
            "port": api_port,
            "log_level": "error",
            # Maintenance runs in real time in processes of Celery, and what is loaded is years old.
            "retention_days": 36_500,
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
            "speed": self.speed,
            "lease_seconds": LEASE_SECONDS,
        }

    def _start_processes(self, processes: Processes) -> None:
        role = "worker" if self.options.engine == "celery" else "embedded"
        names = [f"{role}-{number}" for number in range(1, self.options.workers + 1)]
        names += ["scheduler-1", "scheduler-2"] if self.options.engine == "celery" else []
        for name in [*names, "api-1"]:
            processes.start(name)

    async def _end_tasks(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        for task in tasks:
            task.cancel()
        for task, end in zip(tasks, await asyncio.gather(*tasks, return_exceptions=True), strict=True):
            if isinstance(end, Exception):
                self.findings.problems.append(f"{task.get_name()} ended: {end!r}")

    async def _end_processes(self, processes: Processes, clock: FastClock, monitor: Monitor, work: Path) -> None:
        """Keeps what there is to keep, also of a day that was interrupted."""
        (self.folder / "ended").write_text(str(int(clock.seconds()) + 1))
        self.options.output.mkdir(parents=True, exist_ok=True)
        monitor.write(self.options.output / "samples.csv")
        self.findings.problems += [f"{name} did not end when it was told to" for name in processes.end_all()]
        # Until they have ended they record fetches.
        (self.folder / "ended").write_text(str(int(clock.seconds()) + 1))
        self._note_errors(keep_logs(work, self.options.output / "logs"))
        try:
            await monitor.sample()
        except UNREACHABLE as error:
            self.findings.problems.append(f"the database does not answer at the end: {error!r}")
        monitor.write(self.options.output / "samples.csv")

    def _note_errors(self, logs: Sequence[Path]) -> None:
        """With faults, processes log what they could not reach."""
        self.errors = count_errors(logs)
        self.findings.figures["errors in the logs"] = self.errors.total()
        if not self.options.faults:
            self.findings.problems += [f"logged {count} times: {event}" for event, count in self.errors.items()]

    async def _pass_the_day(self, clock: FastClock, monitor: Monitor, processes: Processes) -> None:
        end = clock.start + self.options.hours * 3600
        while clock.seconds() < end:
            await asyncio.sleep(min(20, max((end - clock.seconds()) / clock.speed, 0.1)))
            if monitor.samples:
                self._say(monitor.samples[-1])
            processes.check()

    def _say(self, sample: dict[str, Any]) -> None:
        late = sample["late_p99"]
        self.progress.say(
            f"{sample['hours']:.1f} of {self.options.hours:g} h: {sample['fetched']:,} fetches, "
            f"{sample['fetches_per_second']:.0f} a second, p99 {'–' if late is None else round(late)} s late, "
            f"{sample['due']:,} due, {sample['claims']:,} claimed"
        )

    async def _catch_up(self, clock: FastClock, processes: Processes, url: str) -> float:
        """Waits until everything that was due when the day ended is fetched; the real seconds that took."""
        end, started = to_iso(datetime.fromtimestamp(clock.start + self.options.hours * 3600, UTC)), time.monotonic()
        while left := await _count_due(url, end):
            processes.check()
            if time.monotonic() - started > LONGEST_CATCH_UP:
                problem = f"{left:,} feeds that were due are not fetched after {LONGEST_CATCH_UP} s"
                self.findings.problems.append(problem)
                break
            await asyncio.sleep(1)
        return time.monotonic() - started

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
        self, url: str, day: PassedDay, monitor: Monitor, reader: Reader, caught_up: float, about: Sequence[Table]
    ) -> Results:
        """Writes the results before the check, too: it reads the whole database."""
        found = self.findings
        self._note_pages(reader)
        results = run_results(self.options, day, monitor, reader)
        results |= {"caught_up_after": caught_up, "errors": dict(self.errors)}
        if self.options.plots:
            write_plots(plots_of(monitor.samples, reader.times), self.options.images)
        self._write(results, [*found.problems, "the check has not ended"], monitor.samples, about)
        self.progress.begin("checking the day")
        started = time.monotonic()
        await check_day(url, day, found)
        results["checked_in"] = time.monotonic() - started
        if not found.problems:
            # Of a day with a problem the log is kept.
            results["dropped_log"] = await drop_expired_log(url, day.clock.now())
        tables = self._write(results, found.problems, monitor.samples, about)
        for table in tables:
            report_table(table)
        report_problems(found)
        return results

    def _note_pages(self, reader: Reader) -> None:
        figures, problems = self.findings.figures, self.findings.problems
        figures["pages that failed"] = len(reader.failures)
        if self.options.faults:
            return
        problems += [f"a page failed: {failure}" for failure in reader.failures[:MOST_FAILURES]]
        problems += [f"no page of this kind: {kind}" for kind in reader.missing_kinds()]
        if not reader.turns and self.options.minutes >= 1:
            problems.append("the reader has not read all pages once")

    def _write(
        self, results: Results, problems: list[str], samples: Sequence[Sample], about: Sequence[Table]
    ) -> list[Table]:
        results |= {"checked": self.findings.figures, "problems": problems}
        tables = [*day_tables(f"{self.options.hours:g} hours of {self._size()}", results, samples), *about]
        results["tables"] = list(map(asdict, tables))
        (self.options.output / "results.json").write_text(json.dumps(results, indent=1))
        return tables


async def _count_due(url: str, until: str) -> int:
    one = await asyncpg.connect(url)
    try:
        return int(await one.fetchval("SELECT count(*) FROM feeds WHERE next_fetch_at <= $1", until))
    finally:
        await one.close()


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
