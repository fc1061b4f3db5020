"""The engine inside one process: asyncio tasks, a limited number at once."""

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import islice

from feedmill.engine.engine import JobHandler, JobNotRun
from feedmill.engine.job_queue import BatchCountdown, JobEnds, JobQueue, QueuedJob
from feedmill.engine.jobs import Job, Priority, log_fields_of
from feedmill.lazy_loggers import bound_fields, get_logger

log = get_logger(__name__)

# A job that keeps to its own soft limit (90 s) never meets this one.
HARD_LIMIT = timedelta(seconds=120)
CANCEL_GRACE = timedelta(seconds=2)
# Of the 30 s in which a process ends, the rest is for its requests, its claims and its database.
STOP_GRACE = timedelta(seconds=16)


class InProcessEngine:
    """Runs up to `at_once` jobs at a time; one that rests (see `rest`) lets another run meanwhile."""

    def __init__(self, handler: JobHandler, at_once: int = 20, hard_limit: timedelta = HARD_LIMIT) -> None:
        self._handler = handler
        self._at_once = at_once
        self._hard = hard_limit.total_seconds()
        self._waiting = JobQueue()
        self._running: dict[asyncio.Task[object], QueuedJob] = {}
        self._resting = 0
        self._returning: deque[asyncio.Future[None]] = deque()
        self._undone: list[Job] = []
        self._stopping = False
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def backlog(self) -> int:
        """How many jobs could start if there were places; those that wait for their host don't count."""
        return self._waiting.ready

    def in_lane(self, lane: str) -> int:
        """How many jobs of the lane wait or run."""
        return self._waiting.in_lane(lane)

    def waits(self) -> Mapping[str, int]:
        """How many jobs wait for a place or for their host, by priority."""
        return {priority.name.lower(): self._waiting.of(priority) for priority in Priority}

    async def submit(self, job: Job, priority: Priority) -> None:
        self._hand_in([QueuedJob(job, priority)])

    async def run_batch(self, jobs: Sequence[Job], callback: Job, priority: Priority) -> None:
        batch = BatchCountdown(len(jobs), callback)
        self._hand_in([QueuedJob(job, priority, batch) for job in jobs] or [QueuedJob(callback, priority)])

    async def run(self, job: Job, priority: Priority) -> object:
        """What the handler made of the job when its turn had come (None if it failed); raises `JobNotRun`."""
        [end] = await self.run_all([job], priority)
        if isinstance(end, JobNotRun):
            raise end
        return end

    def run_all(self, jobs: Sequence[Job], priority: Priority) -> asyncio.Future[list[object]]:
        """What the handler will have made of each job (None if it failed), or a `JobNotRun` in its place."""
        ends = JobEnds(len(jobs))
        self._hand_in([QueuedJob(job, priority, ends=ends, place=place) for place, job in enumerate(jobs)])
        return ends.all

    async def until_idle(self) -> None:
        """Waits until nothing runs and nothing waits."""
        await self._idle.wait()

    async def rest(self, seconds: float) -> None:
        """Sleeps inside a job without keeping its place from the others; then goes on before those who wait."""
        self._resting += 1
        self._start_next()
        try:
            await asyncio.sleep(seconds)
            await self._come_back()
        finally:
            self._resting -= 1

    async def stop(self, grace: timedelta = STOP_GRACE) -> list[Job]:
        """After the grace, what still runs is cancelled. A batch that came to its end has its callback run."""
        self._stopping = True
        self._leave(self._waiting.drain())
        await self._until_ended(grace)
        self._undone += [ticket.job for ticket in self._running.values()]
        for task in self._running:
            task.cancel()
        await self._until_ended(CANCEL_GRACE * 2)
        self._idle.set()
        return self._undone

    @property
    def _free(self) -> int:
        return self._at_once - len(self._running) + self._resting

    def _hand_in(self, tickets: list[QueuedJob]) -> None:
        if self._stopping:
            self._leave(tickets)
            return
        self._idle.clear()
        for ticket in tickets:
            self._waiting.add(ticket)
        self._start_next()

    def _leave(self, tickets: list[QueuedJob]) -> None:
        """Notes what is not done here, and tells those who wait for it."""
        self._undone += [ticket.job for ticket in tickets]
        for ticket in tickets:
            if ticket.ends is not None:
                ticket.ends.note(ticket.place, JobNotRun())

    def _start_next(self) -> None:
        for turn in islice(self._returning, max(self._free, 0)):
            if not turn.done():
                turn.set_result(None)
        while self._free > len(self._returning) and (ticket := self._waiting.pick()) is not None:
            task = asyncio.create_task(self._run(ticket.job), context=ticket.context)
            self._running[task] = ticket
            task.add_done_callback(self._ended)

    async def _come_back(self) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._returning.append(turn)
        self._start_next()
        try:
            await turn
        finally:
            self._returning.remove(turn)

    def _ended(self, task: asyncio.Task[object]) -> None:
        ticket = self._running.pop(task)
        self._waiting.done(ticket)
        if ticket.ends is not None:
            ticket.ends.note(ticket.place, JobNotRun() if task.cancelled() else task.result())
        if ticket.batch is not None and not task.cancelled() and ticket.batch.one_less():
            # Before all others: it is short, and somebody waits for it.
            self._waiting.add(QueuedJob(ticket.batch.callback, Priority.MANUAL))
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
                return await self._limited(work)
            except asyncio.CancelledError:
                await _cut_short(work)
                raise
            except Exception:
                log.exception("a job failed", job=job)
        return None

    async def _limited(self, work: asyncio.Future[object]) -> object:
        """Cancels the work at the hard limit, and does not wait for long for it to end."""
        done, _ = await asyncio.wait([work], timeout=self._hard)
        if not done:
            log.error("a job takes too long and is stopped", seconds=self._hard)
            await _cut_short(work)
        return work.result() if work.done() and not work.cancelled() else None


async def _cut_short(work: asyncio.Future[object]) -> None:
    """Lets the work clean up after itself, such as give its claim back."""
    work.cancel()
    await asyncio.wait([work], timeout=CANCEL_GRACE.total_seconds())
