"""Passes a simulated day with the processes of the product, measures it, and leaves results whatever happens."""

import argparse
import asyncio
import json
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Any

import aiohttp
import asyncpg
from check_run import Findings, PassedDay, check_day
from day_results import Results, drop_expired_log, run_results, write_results
from day_settings import day_settings, settings_table
from error_logs import count_errors, keep_logs
from fast_clock import FastClock
from feed_profiles import FeedProfiles
from load import pool_size
from monitor import UNREACHABLE, Monitor
from plots import plots_of, write_plots
from prepare_day import BeforeDay, prepare_day, sizes_after_load
from processes import ProcessEnded, Processes
from progress import Progress
from readers import Reader
from report import Table, report_table

from faults import make_faults
from feedmill.model.timestamps import to_iso
from tests.services.postgres import own_postgres
from tests.services.postgres_replica import standby_of
from tests.services.redis import own_redis
from tests.services.server import Restartable, free_port

LEASE_SECONDS = 30.0
MOST_FAILURES = 5
MANY_TURNS = 20
STILL_DUE = "SELECT count(*) FROM feeds WHERE next_fetch_at <= $1"


class Day:
    """`size` says what was loaded. A day begins where the last one with this database ended."""

    url: str
    clock: FastClock
    monitor: Monitor
    reader: Reader
    processes: Processes
    before: BeforeDay
    about: Sequence[Table]

    def __init__(
        self, options: argparse.Namespace, folder: Path, profiles: FeedProfiles, size: str, progress: Progress
    ) -> None:
        self.options, self.folder, self.profiles, self.size = options, folder, profiles, size
        self.progress = progress
        self.speed = options.hours * 60 / options.minutes
        ended = folder / "ended"
        self.start = int(ended.read_text()) if ended.exists() else profiles.start
        self.end = self.start + options.hours * 3600
        self.findings = Findings()
        self.errors: Counter[str] = Counter()
        self.faults: list[asyncio.Task[None]] = []
        self.caught_up_after = 0.0
        self.more: Results = {}

    async def run(self) -> Results:
        options, settings = self.options, day_settings(self.folder / "data", self.speed)
        async with AsyncExitStack() as closing:
            primary = closing.enter_context(own_postgres(self.folder, settings=settings))
            standby = closing.enter_context(standby_of(primary, settings) if options.faults else nullcontext(None))
            redis = closing.enter_context(own_redis() if options.engine == "celery" else nullcontext(None))
            self.url = both_urls(primary, standby)
            self.about = [
                await sizes_after_load(self.folder, self.url, self.size),
                await settings_table(self.url, options, self.speed, settings),
            ]
            self.before = await prepare_day(self.url, options.feeds, self.start, self.end)
            api_port = free_port()
            await self._begin(closing, redis, api_port)
            tasks = self._measure(await closing.enter_async_context(open_session(api_port)))
            if standby is not None and redis is not None:
                self.faults = [asyncio.create_task(self._make_faults(primary, standby, redis), name="making faults")]
            await self._pass(tasks)
            return await self._check()

    # --- before ---

    async def _begin(self, closing: AsyncExitStack, redis: Restartable | None, api_port: int) -> None:
        """Starts the processes, and the clock when all are ready."""
        work = Path(closing.enter_context(tempfile.TemporaryDirectory()))
        redis_url = redis.service.url if redis else None
        (work / "plan.json").write_text(json.dumps(self._plan(work, redis_url, api_port)))
        self.processes = Processes(work)
        closing.callback(self.processes.end_all)
        role = "worker" if redis else "embedded"
        names = [f"{role}-{number}" for number in range(1, self.options.workers + 1)]
        for name in [*names, *(["scheduler-1", "scheduler-2"] if redis else []), "api-1"]:
            self.processes.start(name)
        self.clock = FastClock(self.start, await self.processes.begin_day(), self.speed)
        self.monitor = Monitor(self.url, self.clock, work, self.processes.pids, redis_url)
        hours, workers = f"{self.options.hours:g} hours", f"{self.options.workers} worker(s)"
        self.progress.begin(f"{hours} at {self.speed:.0f} times the speed, {workers}")

    def _plan(self, work: Path, redis_url: str | None, api_port: int) -> dict[str, Any]:
        settings = {
            "database": self.url,
            "redis": redis_url or "",
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
            "pool": pool_size(self.options.entries),
            "words": self.options.words,
            "first_day": self.profiles.start,
            "start": self.start,
            "speed": self.speed,
            "lease_seconds": LEASE_SECONDS,
        }

    # --- meanwhile ---

    def _measure(self, http: aiohttp.ClientSession) -> list[asyncio.Task[None]]:
        self.reader = Reader(http, self.clock)
        works = {"the monitor": self.monitor.keep_sampling(self.options.every)}
        if not self.options.no_reader:
            works["the reader"] = self._read(http)
        return [asyncio.create_task(work, name=name) for name, work in works.items()]

    async def _make_faults(self, primary: Restartable, standby: Restartable, redis: Restartable) -> None:
        lasts, workers = self.options.minutes * 60, self.options.workers
        await make_faults(self.processes, self.progress, primary, standby, redis, lasts, workers)

    async def _read(self, http: aiohttp.ClientSession) -> None:
        while True:
            try:
                async with http.get("/health"):
                    break
            except aiohttp.ClientError:
                await asyncio.sleep(0.2)
        await self.reader.keep_reading()

    async def _pass(self, tasks: list[asyncio.Task[None]]) -> None:
        try:
            await self._wait_for_end()
            # A worker that is killed later would leave claims of feeds that nobody waits for.
            await self._end_tasks(self.faults)
            await self._catch_up()
        except ProcessEnded as error:
            self.findings.problems.append(str(error))
        finally:
            await self._end_tasks(self.faults)
            await self._end_tasks(tasks)
            await self._end_processes()

    async def _wait_for_end(self) -> None:
        while (left := self.end - self.clock.seconds()) > 0:
            await asyncio.sleep(min(20, max(left / self.speed, 0.1)))
            if self.monitor.samples:
                self._say(self.monitor.samples[-1])
            self.processes.check()

    def _say(self, sample: dict[str, Any]) -> None:
        late = sample["late_p99"]
        self.progress.say(
            f"{sample['hours']:.1f} of {self.options.hours:g} h: {sample['fetched']:,} fetches, "
            f"{sample['fetches_per_second']:.0f} a second, p99 {'–' if late is None else round(late)} s late, "
            f"{sample['due']:,} due, {sample['claims']:,} claimed"
        )

    async def _catch_up(self) -> None:
        """Waits until everything that was due when the day ended is fetched."""
        started = time.monotonic()
        while left := await self._count_due():
            self.processes.check()
            if time.monotonic() - started > self.options.catch_up:
                problem = f"{left:,} feeds that were due are not fetched after {self.options.catch_up:g} s"
                self.findings.problems.append(problem)
                break
            await asyncio.sleep(1)
        self.caught_up_after = time.monotonic() - started

    async def _count_due(self) -> int:
        one = await asyncpg.connect(self.url)
        try:
            return int(await one.fetchval(STILL_DUE, to_iso(datetime.fromtimestamp(self.end, UTC))))
        finally:
            await one.close()

    async def _end_tasks(self, tasks: list[asyncio.Task[None]]) -> None:
        """Notes which of them had ended with an error; empties the list."""
        for task in tasks:
            task.cancel()
        for task, end in zip(tasks, await asyncio.gather(*tasks, return_exceptions=True), strict=True):
            if isinstance(end, Exception):
                self.findings.problems.append(f"{task.get_name()} ended: {end!r}")
        tasks.clear()

    async def _end_processes(self) -> None:
        """Also of a day that was interrupted, what was measured and logged is kept."""
        output = self.options.output
        output.mkdir(parents=True, exist_ok=True)
        self._note_end()
        stuck = self.processes.end_all()
        # Until they have ended they record fetches.
        self._note_end()
        self.findings.problems += [f"{name} did not end when it was told to" for name in stuck]
        self._note_errors(keep_logs(self.processes.work, output / "logs"))
        try:
            await self.monitor.sample()
        except UNREACHABLE as error:
            self.findings.problems.append(f"the database does not answer at the end: {error!r}")
        self.monitor.write(output / "samples.csv")
        self._note_pages()
        self._write([*self.findings.problems, "the day was not checked"])

    def _note_end(self) -> None:
        (self.folder / "ended").write_text(str(int(self.clock.seconds()) + 1))
        self.monitor.write(self.options.output / "samples.csv")

    def _note_errors(self, logs: Sequence[Path]) -> None:
        """With faults, processes log what they could not reach."""
        self.errors = count_errors(logs)
        self.findings.figures["errors in the logs"] = self.errors.total()
        if not self.options.faults:
            self.findings.problems += [f"logged {count} times: {event}" for event, count in self.errors.items()]

    # --- afterwards ---

    async def _check(self) -> Results:
        """Checks the day, and writes the results again: those from before the check are there if it fails."""
        found = self.findings
        self.progress.begin("checking the day")
        started = time.monotonic()
        await check_day(self.url, self._passed_day(), found)
        self.more["checked_in"] = time.monotonic() - started
        if not found.problems:
            # Of a day with a problem the log is kept.
            self.more["dropped_log"] = await drop_expired_log(self.url, self.clock.now())
        results, tables = self._write(found.problems)
        for table in tables:
            report_table(table)
        found.report()
        return results

    def _passed_day(self) -> PassedDay:
        recorded = self.monitor.totals().kinds
        return PassedDay(self.profiles, self.clock, self.before, recorded, self.processes.kills)

    def _write(self, problems: Sequence[str]) -> tuple[Results, list[Table]]:
        options, samples = self.options, self.monitor.samples
        results = run_results(options, self._passed_day(), self.monitor, self.reader) | self.more
        results |= {"caught_up_after": self.caught_up_after, "errors": dict(self.errors)}
        results |= {"checked": self.findings.figures, "problems": list(problems)}
        if options.plots:
            write_plots(plots_of(samples, self.reader.times), options.images)
        title = f"{options.hours:g} hours of {self.size}"
        return results, write_results(options.output, title, results, samples, self.about)

    def _note_pages(self) -> None:
        """Pages may fail during faults, but not each time."""
        reader, problems, has_faults = self.reader, self.findings.problems, self.options.faults
        self.findings.figures["pages that failed"] = len(reader.failures)
        if not has_faults:
            problems += [f"a page failed: {failure}" for failure in reader.failures[:MOST_FAILURES]]
        if not has_faults or reader.turns >= MANY_TURNS:
            problems += [f"no page of this kind: {kind}" for kind in reader.missing_kinds()]
        if not reader.turns and self.options.minutes >= 1:
            problems.append("the reader has not read all pages once")


def open_session(port: int) -> aiohttp.ClientSession:
    # Cookies of an address are ignored otherwise.
    return aiohttp.ClientSession(f"http://127.0.0.1:{port}", cookie_jar=aiohttp.CookieJar(unsafe=True))


def both_urls(primary: Restartable, standby: Restartable | None) -> str:
    url = primary.service.url
    if standby is None:
        return url
    other = standby.service.url.partition("@")[2].partition("/")[0]
    return f"{url.rpartition('/')[0]},{other}/postgres?target_session_attrs=read-write"
