"""Maintenance tasks: each run once, by one process, and again when it is due or failed."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from feedmill.app import build_app
from feedmill.errors import BlobUnavailable
from feedmill.run.maintenance import LEASE, RETRY_DELAY, Maintenance, MaintenanceTask, make_maintenance
from feedmill.settings import load_settings
from feedmill.store.database import Database
from tests.waiting import until

NOW = datetime(2026, 2, 18, tzinfo=UTC)
DAY = timedelta(days=1)


class Clock:
    now = NOW

    def __call__(self) -> datetime:
        return self.now


class Work:
    """Counts its runs; it can be set to fail or to wait."""

    def __init__(self) -> None:
        self.done = 0
        self.error: BaseException | None = None
        self.may_end = asyncio.Event()
        self.may_end.set()

    async def __call__(self, now: datetime) -> dict[str, int]:
        await self.may_end.wait()
        if self.error is not None:
            raise self.error
        self.done += 1
        return {"done": self.done}


def maintenance(db: Database, work: Work, clock: Clock) -> Maintenance:
    return Maintenance(db, [MaintenanceTask("test", DAY, work)], clock)


async def test_a_due_task_is_run_by_one_of_many_processes(any_db: Database) -> None:
    work, clock = Work(), Clock()
    work.may_end.clear()

    processes = [asyncio.create_task(maintenance(any_db, work, clock).run_due()) for _ in range(5)]
    await until(lambda: sum(process.done() for process in processes) == 4, otherwise="more than one works, or none")
    work.may_end.set()

    assert (sorted(await asyncio.gather(*processes)), work.done) == ([[], [], [], [], ["test"]], 1)


async def test_an_installation_purges_every_day_and_ends_read_later_every_hour(tmp_path: Path) -> None:
    async with build_app(load_settings(data=tmp_path)) as app:
        every = {task.name: task.every for task in make_maintenance(app).tasks}

    assert (every["purge"], every["expire_marks"]) == (DAY, timedelta(hours=1))


async def test_a_task_is_run_again_when_it_is_due(db: Database) -> None:
    work, clock = Work(), Clock()
    mine = maintenance(db, work, clock)

    await mine.run_due()
    clock.now += DAY - timedelta(seconds=1)
    assert await mine.run_due() == []
    clock.now += timedelta(seconds=1)
    assert await mine.run_due() == ["test"]


async def test_a_task_that_a_clock_far_ahead_has_scheduled_is_run_now(any_db: Database) -> None:
    work, clock = Work(), Clock()
    mine = maintenance(any_db, work, clock)
    clock.now = NOW + 2_000 * DAY
    await mine.run_due()

    clock.now = NOW

    assert await mine.run_due() == ["test"]
    assert await mine.run_due() == []


async def test_a_task_that_a_killed_process_with_a_clock_far_ahead_had_taken_is_run_now(db: Database) -> None:
    work, clock = Work(), Clock()
    work.error, clock.now = asyncio.CancelledError(), NOW + 2_000 * DAY
    with pytest.raises(asyncio.CancelledError):
        await maintenance(db, work, clock).run_due()

    work.error, clock.now = None, NOW

    assert await maintenance(db, work, clock).run_due() == ["test"]


async def test_a_failed_task_is_tried_again_in_an_hour(db: Database) -> None:
    work, clock = Work(), Clock()
    mine = maintenance(db, work, clock)
    work.error = BlobUnavailable("the bucket does not answer")
    assert await mine.run_due() == []

    work.error = None
    clock.now += RETRY_DELAY - timedelta(seconds=1)
    assert await mine.run_due() == []
    clock.now += timedelta(seconds=1)
    assert await mine.run_due() == ["test"]


async def test_a_task_whose_process_was_killed_is_started_again(db: Database) -> None:
    work, clock = Work(), Clock()
    work.error = asyncio.CancelledError()
    with pytest.raises(asyncio.CancelledError):
        await maintenance(db, work, clock).run_due()
    work.error = None

    assert await maintenance(db, work, clock).run_due() == []
    clock.now += LEASE
    assert await maintenance(db, work, clock).run_due() == ["test"]


async def test_a_task_with_an_unexpected_failure_stops_no_other_and_is_tried_again(
    db: Database, logged: list[Any]
) -> None:
    broken, well, clock = Work(), Work(), Clock()
    broken.error = ZeroDivisionError("a mistake of ours")
    mine = Maintenance(db, [MaintenanceTask("broken", DAY, broken), MaintenanceTask("well", DAY, well)], clock)

    assert await mine.run_due() == ["well"]

    assert [(line["event"], line["task"], line.get("exc_info", False)) for line in logged] == [
        ("maintenance_task_failed", "broken", True),
        ("maintenance_task_finished", "well", False),
    ]
    broken.error = None
    clock.now += RETRY_DELAY
    assert await mine.run_due() == ["broken"]
