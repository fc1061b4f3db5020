"""PORT: submit a job, or run a batch of jobs with a callback."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from feedmill.engine.jobs import Job, Priority

# The result goes to whoever waits for that job (see `InProcessEngine.run`).
JobHandler = Callable[[Job], Awaitable[object]]


class JobNotRun(Exception):
    """The engine stopped before the job was finished."""


class Engine(Protocol):
    """Runs jobs by passing each to the handler. Their outcomes are in the database."""

    async def submit(self, job: Job, priority: Priority) -> None:
        """Queues the job."""

    async def run_batch(self, jobs: Sequence[Job], callback: Job, priority: Priority) -> None:
        """Queues the jobs, and runs the callback once all have ended, successfully or not."""

    def waits(self) -> Mapping[str, int]:
        """How many jobs wait in this process, by priority; empty for an engine that sends them elsewhere."""

    async def stop(self) -> list[Job]:
        """Lets running jobs finish within a time limit; returns the jobs that were not done."""


class ScanEngine(Engine, Protocol):
    """An engine that tells the scheduler how busy it is."""

    @property
    def backlog(self) -> int:
        """How many jobs wait only for a free slot, not for their host."""

    def in_lane(self, lane: str) -> int:
        """How many jobs of the lane wait or run, as far as this process knows."""
