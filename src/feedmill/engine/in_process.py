"""The engine inside one process: asyncio tasks, a limited number at once."""

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import islice

from feedmill.engine.engine import JobHandler, JobNotRun
from feedmill.engine.job_queue import BatchCountdown, JobQueue, JobResults, QueuedJob
from feedmill.engine.jobs import Job, Priority, log_fields_of
from feedmill.lazy_loggers import bound_fields, get_logger

log = get_logger(__name__)

# Longer than a job's own soft limit (90 s).
HARD_LIMIT = timedelta(seconds=120)
CANCEL_GRACE = timedelta(seconds=2)
# Of the 30 s in which a process must stop; the rest is for its requests, claims and database.
STOP_GRACE = timedelta(seconds=16)


class InProcessEngine:
    """Runs up to `at_once` jobs at a time; a job that sleeps by `rest` lets another run in the meantime."""

    def __init__(self, handler: JobHandler, at_once: int = 20, hard_limit: timedelta = HARD_LIMIT) -> None:
        self._handler = handler
        self._at_once = at_once
        self._hard_limit = hard_limit.total_seconds()
        self._waiting = JobQueue()
        self._running: dict[asyncio.Task[object], QueuedJob] = {}
        self._resting = 0
        self._resuming: deque[asyncio.Future[None]] = deque()
        self._undone: list[Job] = []
        self._stopping = False
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def backlog(self) -> int:
        """How many jobs wait only for a free slot, not for their host."""
        return self._waiting.ready

    def in_lane(self, lane: str) -> int:
        """How many jobs of the lane wait or run."""
        return self._waiting.in_lane(lane)

    def waits(self) -> Mapping[str, int]:
        """How many jobs wait for a slot or for their host, by priority."""
        return {priority.name.lower(): self._waiting.count(priority) for priority in Priority}

    async def submit(self, job: Job, priority: Priority) -> None:
        self._enqueue([QueuedJob(job, priority)])

    async def run_batch(self, jobs: Sequence[Job], callback: Job, priority: Priority) -> None:
        batch = BatchCountdown(len(jobs), callback)
        self._enqueue([QueuedJob(job, priority, batch) for job in jobs] or [QueuedJob(callback, priority)])

    async def run(self, job: Job, priority: Priority) -> object:
        """Runs the job when its turn comes and returns the handler's result (None if it failed); raises `JobNotRun`."""
        [result] = await self.run_all([job], priority)
        if isinstance(result, JobNotRun):
            raise result
        return result

    def run_all(self, jobs: Sequence[Job], priority: Priority) -> asyncio.Future[list[object]]:
        """Queues the jobs; the future has the handler's result of each (None if it failed), or a `JobNotRun`."""
        results = JobResults(len(jobs))
        self._enqueue([QueuedJob(job, priority, results=results, index=index) for index, job in enumerate(jobs)])
        return results.all

    async def until_idle(self) -> None:
        """Waits until nothing runs and nothing waits."""
        await self._idle.wait()

    async def rest(self, seconds: float) -> None:
        """Sleeps inside a job without occupying its slot; afterwards it continues before waiting jobs start."""
        self._resting += 1
        self._start_next()
        try:
            await asyncio.sleep(seconds)
            await self._resume()
        finally:
            self._resting -= 1

    async def stop(self, grace: timedelta = STOP_GRACE) -> list[Job]:
        """Cancels jobs that still run after the grace. The callback of a batch that is complete still runs."""
        self._stopping = True
        self._abandon(self._waiting.drain())
        await self._until_ended(grace)
        self._undone += [queued.job for queued in self._running.values()]
        for task in self._running:
            task.cancel()
        await self._until_ended(CANCEL_GRACE * 2)
        self._idle.set()
        return self._undone

    @property
    def _free_slots(self) -> int:
        return self._at_once - len(self._running) + self._resting

    def _enqueue(self, queued_jobs: list[QueuedJob]) -> None:
        if self._stopping:
            self._abandon(queued_jobs)
            return
        self._idle.clear()
        for queued in queued_jobs:
            self._waiting.add(queued)
        self._start_next()

    def _abandon(self, queued_jobs: list[QueuedJob]) -> None:
        """Records jobs as not done, and notifies those who wait for them."""
        self._undone += [queued.job for queued in queued_jobs]
        for queued in queued_jobs:
            if queued.results is not None:
                queued.results.record(queued.index, JobNotRun())

    def _start_next(self) -> None:
        for turn in islice(self._resuming, max(self._free_slots, 0)):
            if not turn.done():
                turn.set_result(None)
        while self._free_slots > len(self._resuming) and (queued := self._waiting.pick()) is not None:
            task = asyncio.create_task(self._run(queued.job), context=queued.context)
            self._running[task] = queued
            task.add_done_callback(self._ended)

    async def _resume(self) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._resuming.append(turn)
        self._start_next()
        try:
            await turn
        finally:
            self._resuming.remove(turn)

    def _ended(self, task: asyncio.Task[object]) -> None:
        queued = self._running.pop(task)
        self._waiting.done(queued)
        if queued.results is not None:
            queued.results.record(queued.index, JobNotRun() if task.cancelled() else task.result())
        if queued.batch is not None and not task.cancelled() and queued.batch.one_less():
            # Before all others: it is short, and a person waits for it.
            self._waiting.add(QueuedJob(queued.batch.callback, Priority.MANUAL))
        self._start_next()
        if not self._running and not len(self._waiting):
            self._idle.set()

    async def _until_ended(self, limit: timedelta) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + limit.total_seconds()
        while self._running and (left := deadline - loop.time()) > 0:
            await asyncio.wait(list(self._running), timeout=left)

    async def _run(self, job: Job) -> object:
        with bound_fields(**log_fields_of(job)):
            work = asyncio.ensure_future(self._handler(job))
            try:
                return await self._with_hard_limit(work)
            except asyncio.CancelledError:
                await _cancel(work)
                raise
            except Exception:
                log.exception("job_crashed")
        return None

    async def _with_hard_limit(self, work: asyncio.Future[object]) -> object:
        """Cancels the work at the hard limit, and waits only briefly for it to end."""
        done, _ = await asyncio.wait([work], timeout=self._hard_limit)
        if not done:
            log.error("job_timed_out", seconds=self._hard_limit)
            await _cancel(work)
        return work.result() if work.done() and not work.cancelled() else None


async def _cancel(work: asyncio.Future[object]) -> None:
    """Cancels the work and gives it a moment to clean up, for example to release its claim."""
    work.cancel()
    await asyncio.wait([work], timeout=CANCEL_GRACE.total_seconds())
