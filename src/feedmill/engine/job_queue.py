"""The queue of waiting jobs: by priority without starving the low one, one at a time per lane."""

import asyncio
from collections import Counter, deque
from contextvars import Context, copy_context
from dataclasses import dataclass, field

from feedmill.engine.jobs import Job, Priority, lane_of

# One of this many jobs is taken from the lowest priority that waits.
LOW_PRIORITY_SHARE = 4


class BatchCountdown:
    """Counts the jobs of a batch that have not ended; the callback is due when none is left."""

    def __init__(self, left: int, callback: Job) -> None:
        self._left = left
        self.callback = callback

    def one_less(self) -> bool:
        """Counts one job as ended; whether it was the last."""
        self._left -= 1
        return self._left == 0


class JobResults:
    """The results of many jobs in one future, `all`: its waiter is woken once, not for each job."""

    def __init__(self, count: int) -> None:
        self._results: list[object] = [None] * count
        self._left = count
        self.all: asyncio.Future[list[object]] = asyncio.get_running_loop().create_future()
        self._complete_if_all()

    def record(self, index: int, result: object) -> None:
        self._results[index] = result
        self._left -= 1
        self._complete_if_all()

    def _complete_if_all(self) -> None:
        if not self._left and not self.all.done():
            self.all.set_result(self._results)


@dataclass(frozen=True, slots=True, eq=False)
class QueuedJob:
    """A job in the queue. A job that is submitted twice is there twice.

    `results` gets the job's result at `index`, for whoever waits for it. `context` is the caller's, so that the job's
    log lines carry the id of its message.
    """

    job: Job
    priority: Priority
    batch: BatchCountdown | None = None
    results: JobResults | None = None
    index: int = 0
    context: Context = field(default_factory=copy_context)


class PriorityQueue:
    """A first-in, first-out queue for each priority."""

    def __init__(self) -> None:
        self._queues: dict[Priority, deque[QueuedJob]] = {priority: deque() for priority in Priority}
        self._takes = 0

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    def count(self, priority: Priority) -> int:
        return len(self._queues[priority])

    def add(self, queued: QueuedJob) -> None:
        self._queues[queued.priority].append(queued)

    def add_in_front(self, queued: QueuedJob) -> None:
        self._queues[queued.priority].appendleft(queued)

    def take(self) -> QueuedJob | None:
        """Takes the first job of the highest priority; every few times, of the lowest."""
        self._takes += 1
        for priority in sorted(Priority, reverse=self._takes % LOW_PRIORITY_SHARE == 0):
            if self._queues[priority]:
                return self._queues[priority].popleft()
        return None

    def drain(self) -> list[QueuedJob]:
        """Removes and returns all jobs."""
        queued_jobs = [queued for waiting in self._queues.values() for queued in waiting]
        for waiting in self._queues.values():
            waiting.clear()
        return queued_jobs


class JobQueue:
    """The waiting jobs. The cost of an operation does not depend on how many wait."""

    def __init__(self) -> None:
        self._ready = PriorityQueue()
        self._blocked: dict[str, PriorityQueue] = {}
        self._busy: set[str] = set()
        self._lanes: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._ready) + sum(map(len, self._blocked.values()))

    @property
    def ready(self) -> int:
        """How many jobs wait only for a free slot, not for another job of their lane."""
        return len(self._ready)

    def count(self, priority: Priority) -> int:
        """How many jobs of that priority wait, for a slot or for their lane."""
        return sum(queue.count(priority) for queue in (self._ready, *self._blocked.values()))

    def in_lane(self, lane: str) -> int:
        """How many jobs of the lane wait or run."""
        return self._lanes[lane]

    def add(self, queued: QueuedJob) -> None:
        self._ready.add(queued)
        if lane := lane_of(queued.job):
            self._lanes[lane] += 1

    def pick(self) -> QueuedJob | None:
        """The next job that may start; its lane is busy until `done`."""
        while (queued := self._ready.take()) is not None:
            lane = lane_of(queued.job)
            if not lane:
                return queued
            if lane not in self._busy:
                self._busy.add(lane)
                return queued
            self._blocked.setdefault(lane, PriorityQueue()).add(queued)
        return None

    def done(self, queued: QueuedJob) -> None:
        """Frees the job's lane for the next job in it."""
        lane = lane_of(queued.job)
        self._busy.discard(lane)
        self._count_out(lane)
        blocked = self._blocked.get(lane)
        if blocked is None:
            return
        if (following := blocked.take()) is not None:
            self._ready.add_in_front(following)
        if not blocked:
            del self._blocked[lane]

    def drain(self) -> list[QueuedJob]:
        """Removes and returns all waiting jobs."""
        queued_jobs = [queued for queue in (self._ready, *self._blocked.values()) for queued in queue.drain()]
        self._blocked.clear()
        for queued in queued_jobs:
            self._count_out(lane_of(queued.job))
        return queued_jobs

    def _count_out(self, lane: str) -> None:
        self._lanes[lane] -= 1
        if self._lanes[lane] <= 0:
            del self._lanes[lane]
