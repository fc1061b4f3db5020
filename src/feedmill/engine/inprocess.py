"""The engine inside one process: asyncio tasks, a bounded number at once."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import structlog

from feedmill.engine.engine import Handler
from feedmill.engine.jobs import Job, Priority, lane_of
from feedmill.engine.waiting import Waiting

log = structlog.get_logger(__name__)

# A job that keeps to its own soft limit (90 s) never meets this one.
HARD_LIMIT = timedelta(seconds=120)
LAST_WORDS = timedelta(seconds=5)
GRACE = timedelta(seconds=25)


class InProcessEngine:
    """Runs up to `at_once` jobs at a time; one that rests (see `rest`) lets another run meanwhile."""

    def __init__(self, handler: Handler, at_once: int = 20, hard_limit: timedelta = HARD_LIMIT) -> None:
        self._handler = handler
        self._hard = hard_limit.total_seconds()
        self._waiting = Waiting()
        self._free = at_once
        self._running: dict[asyncio.Task[None], Job] = {}
        self._batches: dict[int, _Batch] = {}
        self._stopping = False
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def backlog(self) -> int:
        """How many jobs could start if there were places; those that wait for their host don't count."""
        return self._waiting.ready

    async def submit(self, job: Job, priority: Priority) -> None:
        self._idle.clear()
        self._waiting.add(job, priority)
        self._start_next()

    async def run_batch(self, jobs: Sequence[Job], callback: Job, priority: Priority) -> None:
        batch = _Batch(len(jobs), callback, priority)
        for job in jobs:
            self._batches[id(job)] = batch
            await self.submit(job, priority)
        if not jobs:
            await self.submit(callback, priority)

    async def until_idle(self) -> None:
        """Waits until nothing runs and nothing waits."""
        await self._idle.wait()

    async def rest(self, seconds: float) -> None:
        """Sleeps inside a job without keeping its place from the others."""
        self._free += 1
        self._start_next()
        try:
            await asyncio.sleep(seconds)
            while self._free <= 0:
                await asyncio.sleep(0.05)
        finally:
            self._free -= 1

    async def stop(self, grace: timedelta = GRACE) -> list[Job]:
        self._stopping = True
        undone = self._waiting.drain()
        if self._running:
            await asyncio.wait(self._running, timeout=grace.total_seconds())
        undone += self._running.values()
        for task in list(self._running):
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        return undone

    def _start_next(self) -> None:
        while self._free > 0 and not self._stopping and (job := self._waiting.pick()) is not None:
            self._free -= 1
            task = asyncio.create_task(self._run(job))
            self._running[task] = job
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        job = self._running.pop(task)
        self._free += 1
        self._waiting.done(job)
        batch = self._batches.pop(id(job), None)
        if batch is not None and batch.one_less():
            self._waiting.add(batch.callback, batch.priority)
        self._start_next()
        if not self._running and not len(self._waiting):
            self._idle.set()

    async def _run(self, job: Job) -> None:
        with structlog.contextvars.bound_contextvars(job=type(job).__name__, lane=lane_of(job)):
            work = asyncio.ensure_future(self._handler(job))
            try:
                await self._limited(work)
            except asyncio.CancelledError:
                work.cancel()
                raise
            except Exception:
                log.exception("a job failed", job=job)

    async def _limited(self, work: asyncio.Future[None]) -> None:
        """Cancels the work at the hard limit, and does not wait for long for it to end."""
        done, _ = await asyncio.wait([work], timeout=self._hard)
        if not done:
            log.error("a job takes too long and is stopped", seconds=self._hard)
            work.cancel()
            done, _ = await asyncio.wait([work], timeout=LAST_WORDS.total_seconds())
        if done and not work.cancelled():
            work.result()


class _Batch:
    """Counts a batch down to its callback."""

    def __init__(self, left: int, callback: Job, priority: Priority) -> None:
        self._left = left
        self.callback = callback
        self.priority = priority

    def one_less(self) -> bool:
        self._left -= 1
        return self._left == 0
