"""PORT: submit a job, or run a batch of jobs with a callback."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from feedmill.engine.jobs import Job, Priority

# What comes back is for whoever waits for that job (see `InProcessEngine.run`).
JobHandler = Callable[[Job], Awaitable[object]]


class JobNotRun(Exception):
    """The engine stopped before the job was run to its end."""


class Engine(Protocol):
    """Runs jobs by handing each to the handler. What a job comes to stands in the database."""

    async def submit(self, job: Job, priority: Priority) -> None:
        """Has the job run when its turn comes."""

    async def run_batch(self, jobs: Sequence[Job], callback: Job, priority: Priority) -> None:
        """Has the jobs run, and once all have ended, well or not, the callback."""

    def waits(self) -> Mapping[str, int]:
        """How many jobs wait in this process, by priority; nothing for an engine that hands them on."""

    async def stop(self) -> list[Job]:
        """Lets what runs come to its end, within limits; the jobs that were not done."""


class ScanEngine(Engine, Protocol):
    """An engine that tells a scan how much it has to do."""

    @property
    def backlog(self) -> int:
        """How many jobs could start if there were places; those that wait for their host don't count."""

    def in_lane(self, lane: str) -> int:
        """How many jobs of the lane wait or run, as far as that is known here."""
