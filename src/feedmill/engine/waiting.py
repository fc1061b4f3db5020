"""The jobs that wait: by priority without starving the low ones, and one at a time in each lane."""

from collections import deque

from feedmill.engine.jobs import Job, Priority, lane_of

# Of so many jobs that start, one is taken from the lowest class that waits.
LOW_SHARE = 4


class Waiting:
    """Every operation costs the same however many jobs wait."""

    def __init__(self) -> None:
        self._ready: dict[Priority, deque[Job]] = {priority: deque() for priority in Priority}
        self._parked: dict[str, deque[tuple[Priority, Job]]] = {}
        self._busy: set[str] = set()
        self._picks = 0

    def __len__(self) -> int:
        return sum(map(len, self._ready.values())) + sum(map(len, self._parked.values()))

    @property
    def ready(self) -> int:
        """How many wait for a place only, not for another job of their lane (as far as that is known)."""
        return sum(map(len, self._ready.values()))

    def add(self, job: Job, priority: Priority) -> None:
        self._ready[priority].append(job)

    def pick(self) -> Job | None:
        """The next job that may start; its lane is busy until `done`."""
        self._picks += 1
        order = sorted(Priority, reverse=self._picks % LOW_SHARE == 0)
        return next((job for priority in order if (job := self._pick_from(priority)) is not None), None)

    def done(self, job: Job) -> None:
        """Opens the job's lane for the next one in it."""
        lane = lane_of(job)
        self._busy.discard(lane)
        if parked := self._parked.get(lane):
            priority, following = parked.popleft()
            self._ready[priority].appendleft(following)
            if not parked:
                del self._parked[lane]

    def drain(self) -> list[Job]:
        """Takes every waiting job out."""
        jobs = [job for ready in self._ready.values() for job in ready]
        jobs += [job for parked in self._parked.values() for _, job in parked]
        for ready in self._ready.values():
            ready.clear()
        self._parked.clear()
        return jobs

    def _pick_from(self, priority: Priority) -> Job | None:
        ready = self._ready[priority]
        while ready:
            job = ready.popleft()
            lane = lane_of(job)
            if lane in self._busy:
                self._parked.setdefault(lane, deque()).append((priority, job))
                continue
            if lane:
                self._busy.add(lane)
            return job
        return None
