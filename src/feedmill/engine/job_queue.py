"""The queue of waiting jobs: by priority without starving the low one, one at a time per lane."""

import asyncio
from collections import Counter, deque
from contextvars import Context, copy_context
from dataclasses import dataclass, field

from feedmill.engine.jobs import Job, Priority, lane_of

# Of so many jobs that start, one is taken from the lowest class that waits.
LOW_PRIORITY_SHARE = 4


class BatchCountdown:
    """How many jobs of a batch have not ended; the callback is due at none."""

    def __init__(self, left: int, callback: Job) -> None:
        self._left = left
        self.callback = callback

    def one_less(self) -> bool:
        """Whether that was the last one."""
        self._left -= 1
        return self._left == 0


class JobEnds:
    """How jobs ended, each at its place, for whoever waits for `all`: one to wake for many jobs, not one for each."""

    def __init__(self, count: int) -> None:
        self._ends: list[object] = [None] * count
        self._left = count
        self.all: asyncio.Future[list[object]] = asyncio.get_running_loop().create_future()
        self._tell_if_all()

    def note(self, place: int, end: object) -> None:
        self._ends[place] = end
        self._left -= 1
        self._tell_if_all()

    def _tell_if_all(self) -> None:
        if not self._left and not self.all.done():
            self.all.set_result(self._ends)


@dataclass(frozen=True, slots=True, eq=False)
class QueuedJob:
    """A job's place in the line. A job that is handed in twice has two.

    `ends` is for whoever waits for its end, which is the one at `place` there.

    `context` is that of whoever handed it in, so that log lines of the job say which message it came with.
    """

    job: Job
    priority: Priority
    batch: BatchCountdown | None = None
    ends: JobEnds | None = None
    place: int = 0
    context: Context = field(default_factory=copy_context)


class PriorityQueue:
    """Tickets in order, by class."""

    def __init__(self) -> None:
        self._classes: dict[Priority, deque[QueuedJob]] = {priority: deque() for priority in Priority}
        self._takes = 0

    def __len__(self) -> int:
        return sum(map(len, self._classes.values()))

    def of(self, priority: Priority) -> int:
        return len(self._classes[priority])

    def add(self, ticket: QueuedJob) -> None:
        self._classes[ticket.priority].append(ticket)

    def add_in_front(self, ticket: QueuedJob) -> None:
        self._classes[ticket.priority].appendleft(ticket)

    def take(self) -> QueuedJob | None:
        """The first of the highest class; now and then, of the lowest."""
        self._takes += 1
        for priority in sorted(Priority, reverse=self._takes % LOW_PRIORITY_SHARE == 0):
            if self._classes[priority]:
                return self._classes[priority].popleft()
        return None

    def drain(self) -> list[QueuedJob]:
        """Takes every ticket out."""
        tickets = [ticket for waiting in self._classes.values() for ticket in waiting]
        for waiting in self._classes.values():
            waiting.clear()
        return tickets


class JobQueue:
    """Every operation costs the same however many jobs wait."""

    def __init__(self) -> None:
        self._ready = PriorityQueue()
        self._parked: dict[str, PriorityQueue] = {}
        self._busy: set[str] = set()
        self._lanes: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._ready) + sum(map(len, self._parked.values()))

    @property
    def ready(self) -> int:
        """How many wait for a place only, not for another job of their lane (as far as that is known)."""
        return len(self._ready)

    def of(self, priority: Priority) -> int:
        """How many of that class wait, be it for a place or for their lane."""
        return sum(line.of(priority) for line in (self._ready, *self._parked.values()))

    def in_lane(self, lane: str) -> int:
        """How many jobs of the lane wait or run."""
        return self._lanes[lane]

    def add(self, ticket: QueuedJob) -> None:
        self._ready.add(ticket)
        if lane := lane_of(ticket.job):
            self._lanes[lane] += 1

    def pick(self) -> QueuedJob | None:
        """The next job that may start; its lane is busy until `done`."""
        while (ticket := self._ready.take()) is not None:
            lane = lane_of(ticket.job)
            if not lane:
                return ticket
            if lane not in self._busy:
                self._busy.add(lane)
                return ticket
            self._parked.setdefault(lane, PriorityQueue()).add(ticket)
        return None

    def done(self, ticket: QueuedJob) -> None:
        """Opens the job's lane for the next one in it."""
        lane = lane_of(ticket.job)
        self._busy.discard(lane)
        self._leave(lane)
        parked = self._parked.get(lane)
        if parked is None:
            return
        if (following := parked.take()) is not None:
            self._ready.add_in_front(following)
        if not parked:
            del self._parked[lane]

    def drain(self) -> list[QueuedJob]:
        """Takes every waiting job out."""
        tickets = [ticket for line in (self._ready, *self._parked.values()) for ticket in line.drain()]
        self._parked.clear()
        for ticket in tickets:
            self._leave(lane_of(ticket.job))
        return tickets

    def _leave(self, lane: str) -> None:
        self._lanes[lane] -= 1
        if self._lanes[lane] <= 0:
            del self._lanes[lane]
