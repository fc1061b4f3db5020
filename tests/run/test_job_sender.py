"""Sending jobs: other programs see in Redis which feeds are being put on a queue."""

import pytest

from feedmill.coordination.locks import schedule_lock
from feedmill.coordination.memory import MemoryLocks
from feedmill.engine.jobs import BatchComplete, Job, Priority, RefreshFeed
from feedmill.errors import EngineUnavailable
from feedmill.run.job_sender import JobSender
from feedmill.store.database import Database


class LookingEngine:
    """Notes who holds the schedule lock of feed 7 while a job is sent; fails if it is told to."""

    def __init__(self, locks: MemoryLocks, fails: bool = False) -> None:
        self.locks, self.fails = locks, fails
        self.holders: list[str | None] = []

    async def submit(self, job: Job, priority: Priority) -> None:
        self.holders.append(await self.locks.holder(schedule_lock(7)))
        if self.fails:
            raise EngineUnavailable("no broker")

    async def run_batch(self, jobs: list[Job], callback: Job, priority: Priority) -> None:
        await self.submit(callback, priority)


@pytest.mark.parametrize("fails", [False, True])
async def test_the_schedule_lock_is_held_while_a_job_is_sent_and_free_afterwards(db: Database, fails: bool) -> None:
    locks = MemoryLocks()
    engine = LookingEngine(locks, fails)
    sender = JobSender(db, engine, locks)  # type: ignore[arg-type]

    if fails:
        with pytest.raises(EngineUnavailable):
            await sender.submit(RefreshFeed(7), Priority.MANUAL)
    else:
        await sender.submit(RefreshFeed(7), Priority.MANUAL)
    await sender.run_batch([RefreshFeed(6), RefreshFeed(7)], BatchComplete(1), Priority.SCHEDULED)

    assert len(engine.holders) == 2
    assert None not in engine.holders
    assert await locks.holder(schedule_lock(7)) is None
