"""The contract of engines, in process and with Celery."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from datetime import timedelta
from typing import Any, Protocol

import pytest

from feedmill.engine.engine import Engine, JobHandler
from feedmill.engine.in_process import InProcessEngine
from feedmill.engine.jobs import BatchComplete, Job, Priority, RefreshFeed, ScanComplete
from tests.engine.celery_in_process import CeleryHere, empty_queues
from tests.waiting import LONGEST_WAIT, until

# Celery stores results in a way that the Redis client deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:Call to deprecated setex:DeprecationWarning")


class Recorder:
    """A handler that records its jobs, and lets a test control how long each feed takes."""

    def __init__(self) -> None:
        self.started: list[Job] = []
        self.ended: list[Job] = []
        self.most_at_once = 0
        self.most_in_lane: dict[str, int] = {}
        self.takes: Callable[[Job], Awaitable[object]] = _at_once

    async def __call__(self, job: Job) -> None:
        self.started.append(job)
        self._count(job)
        try:
            await self.takes(job)
        finally:
            self.ended.append(job)

    async def until_ended(self, count: int) -> None:
        await until(lambda: len(self.ended) >= count, otherwise=f"fewer than {count} jobs have ended")

    async def until_started(self, count: int) -> None:
        await until(lambda: len(self.started) >= count, otherwise=f"fewer than {count} jobs have started")

    def _count(self, job: Job) -> None:
        running = [one for one in self.started if one not in self.ended]
        self.most_at_once = max(self.most_at_once, len(running))
        if isinstance(job, RefreshFeed):
            there = sum(1 for one in running if isinstance(one, RefreshFeed) and one.lane == job.lane)
            self.most_in_lane[job.lane] = max(there, self.most_in_lane.get(job.lane, 0))


async def _at_once(job: Job) -> None:
    """Ends at once."""


class MakeEngine(Protocol):
    def __call__(self, handler: JobHandler, **options: Any) -> Engine: ...


@pytest.fixture(params=["inprocess", "celery"])
async def make_engine(request: pytest.FixtureRequest) -> AsyncIterator[MakeEngine]:
    """Creates engines, one after another; a later one gets the messages that an earlier one left."""
    redis_url = await _empty_redis(request) if request.param == "celery" else ""
    made: list[InProcessEngine | CeleryHere] = []

    def make(handler: JobHandler, **options: Any) -> Engine:
        engine = CeleryHere(redis_url, handler, **options) if redis_url else InProcessEngine(handler, **options)
        made.append(engine)
        return engine

    yield make
    for engine in made:
        async with asyncio.timeout(LONGEST_WAIT):
            await engine.stop()


async def _empty_redis(request: pytest.FixtureRequest) -> str:
    url: str = request.getfixturevalue("redis_service").url
    await empty_queues(url)
    return url


async def _has_arrived(engine: Engine) -> None:
    """Waits until submitted jobs have arrived at the workers, if there is a broker in between."""
    if isinstance(engine, CeleryHere):
        await engine.until_taken()


async def _submit_in_order(engine: Engine, jobs: Iterable[Job], priority: Priority) -> None:
    """Submits each when the one before has arrived: messages that are on their way together overtake each other."""
    for job in jobs:
        await engine.submit(job, priority)
        await _has_arrived(engine)


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


def feeds(*ids: int, lane: str = "") -> list[Job]:
    return [RefreshFeed(feed_id, lane=lane) for feed_id in ids]


def ids(jobs: Iterable[Job]) -> list[int]:
    return [job.feed_id for job in jobs if isinstance(job, RefreshFeed)]


async def test_a_job_that_is_handed_in_runs(make_engine: MakeEngine, recorder: Recorder) -> None:
    engine = make_engine(recorder)

    await engine.submit(RefreshFeed(7), Priority.MANUAL)
    await recorder.until_ended(1)

    assert recorder.ended == [RefreshFeed(7)]


async def test_at_most_so_many_run_at_once(make_engine: MakeEngine, recorder: Recorder) -> None:
    gate = asyncio.Event()
    recorder.takes = lambda job: gate.wait()
    engine = make_engine(recorder, at_once=3)

    await engine.run_batch(feeds(*range(20)), ScanComplete("scan"), Priority.SCHEDULED)
    await _has_arrived(engine)
    await recorder.until_started(3)
    gate.set()
    await recorder.until_ended(21)

    assert recorder.most_at_once == 3


async def test_manual_goes_before_scheduled(make_engine: MakeEngine, recorder: Recorder) -> None:
    gate = asyncio.Event()
    recorder.takes = lambda job: gate.wait() if job == RefreshFeed(0) else _at_once(job)
    engine = make_engine(recorder, at_once=1)
    await engine.submit(RefreshFeed(0), Priority.MANUAL)
    await recorder.until_started(1)

    for feed_id, priority in ((1, Priority.SCHEDULED), (2, Priority.SCHEDULED), (3, Priority.MANUAL)):
        await _submit_in_order(engine, [RefreshFeed(feed_id)], priority)
    gate.set()
    await recorder.until_ended(4)

    assert ids(recorder.started).index(3) < ids(recorder.started).index(2)


async def test_a_flood_of_manual_jobs_does_not_starve_the_scheduled(
    make_engine: MakeEngine, recorder: Recorder
) -> None:
    gate = asyncio.Event()
    recorder.takes = lambda job: gate.wait()
    engine = make_engine(recorder, at_once=1)

    for feed_id in range(100):
        await engine.submit(RefreshFeed(feed_id), Priority.MANUAL)
    for feed_id in range(100, 110):
        await engine.submit(RefreshFeed(feed_id), Priority.SCHEDULED)
    await _has_arrived(engine)
    gate.set()
    await recorder.until_ended(110)

    order = ids(recorder.started)
    assert max(order.index(feed_id) for feed_id in range(100, 110)) < 60
    assert max(order.index(feed_id) for feed_id in range(30)) < 60


async def test_one_lane_runs_one_after_another_and_the_others_beside_it(
    make_engine: MakeEngine, recorder: Recorder
) -> None:
    gate = asyncio.Event()
    recorder.takes = lambda job: gate.wait()
    engine = make_engine(recorder, at_once=10)
    jobs = [job for lane in ("a", "b", "c") for job in feeds(1, 2, 3, 4, 5, lane=lane)]

    await engine.run_batch(jobs, ScanComplete("scan"), Priority.SCHEDULED)
    await _has_arrived(engine)
    await recorder.until_started(3)
    gate.set()
    await recorder.until_ended(16)

    assert recorder.most_in_lane == {"a": 1, "b": 1, "c": 1}
    assert recorder.most_at_once == 3


async def test_a_crowded_lane_does_not_hold_up_the_others(make_engine: MakeEngine, recorder: Recorder) -> None:
    gate = asyncio.Event()
    recorder.takes = lambda job: gate.wait()
    engine = make_engine(recorder, at_once=5)

    for job in feeds(*range(100), lane="crowded") + feeds(*range(100, 120)):
        await engine.submit(job, Priority.SCHEDULED)
    await _has_arrived(engine)
    gate.set()
    await recorder.until_ended(120)

    assert set(range(100, 120)) <= set(ids(recorder.ended)[:60])


async def test_a_person_does_not_wait_behind_the_scan_of_a_crowded_lane(
    make_engine: MakeEngine, recorder: Recorder
) -> None:
    gate = asyncio.Event()
    recorder.takes = lambda job: gate.wait()
    engine = make_engine(recorder, at_once=2)
    for job in feeds(*range(50), lane="crowded"):
        await engine.submit(job, Priority.SCHEDULED)

    await engine.submit(RefreshFeed(1000, lane="crowded"), Priority.MANUAL)
    await _has_arrived(engine)
    gate.set()
    await recorder.until_ended(51)

    assert ids(recorder.started).index(1000) < 8


async def test_a_job_that_fails_stops_no_other(make_engine: MakeEngine, recorder: Recorder) -> None:
    recorder.takes = _fail_on(2)
    engine = make_engine(recorder, at_once=1)

    await _submit_in_order(engine, feeds(1, 2, 3), Priority.SCHEDULED)
    await recorder.until_ended(3)

    assert ids(recorder.ended) == [1, 2, 3]


async def test_a_lane_opens_again_after_a_failure(make_engine: MakeEngine, recorder: Recorder) -> None:
    recorder.takes = _fail_on(1)
    engine = make_engine(recorder)

    await _submit_in_order(engine, feeds(1, 2, lane="host"), Priority.SCHEDULED)
    await recorder.until_ended(2)

    assert ids(recorder.ended) == [1, 2]


async def test_the_callback_runs_once_after_all(make_engine: MakeEngine, recorder: Recorder) -> None:
    engine = make_engine(recorder, at_once=4)

    await engine.run_batch(feeds(*range(30)), BatchComplete(5), Priority.MANUAL)
    await recorder.until_ended(31)
    await engine.submit(RefreshFeed(99), Priority.MANUAL)
    await recorder.until_ended(32)

    assert recorder.started[-2:] == [BatchComplete(5), RefreshFeed(99)]
    assert recorder.started.count(BatchComplete(5)) == 1


async def test_the_callback_runs_also_when_jobs_fail(make_engine: MakeEngine, recorder: Recorder) -> None:
    recorder.takes = _fail_on(1, 3)
    engine = make_engine(recorder)

    await engine.run_batch(feeds(1, 2, 3), BatchComplete(5), Priority.MANUAL)
    await recorder.until_ended(4)

    assert recorder.ended[-1] == BatchComplete(5)


async def test_the_callback_of_an_empty_batch_runs_too(make_engine: MakeEngine, recorder: Recorder) -> None:
    engine = make_engine(recorder)

    await engine.run_batch([], BatchComplete(5), Priority.MANUAL)
    await recorder.until_ended(1)

    assert recorder.ended == [BatchComplete(5)]


async def test_the_same_job_twice_in_a_batch_counts_twice(make_engine: MakeEngine, recorder: Recorder) -> None:
    engine = make_engine(recorder)
    job = RefreshFeed(1)

    await engine.run_batch([job, job, RefreshFeed(1)], BatchComplete(5), Priority.MANUAL)
    await recorder.until_ended(4)

    assert recorder.ended[-1] == BatchComplete(5)


async def test_two_batches_that_share_a_job_both_have_their_callback_run(
    make_engine: MakeEngine, recorder: Recorder
) -> None:
    engine = make_engine(recorder)
    job = RefreshFeed(1)

    await engine.run_batch([job], BatchComplete(5), Priority.MANUAL)
    await engine.run_batch([job], BatchComplete(6), Priority.MANUAL)
    await recorder.until_ended(4)

    assert {BatchComplete(5), BatchComplete(6)} <= set(recorder.ended)


async def test_a_callback_does_not_wait_behind_the_backlog(make_engine: MakeEngine, recorder: Recorder) -> None:
    may_end = asyncio.Semaphore(1)
    recorder.takes = lambda job: may_end.acquire()
    engine = make_engine(recorder, at_once=1)

    await engine.run_batch(feeds(1), ScanComplete("first"), Priority.SCHEDULED)
    await engine.run_batch(feeds(*range(2, 30)), ScanComplete("second"), Priority.SCHEDULED)
    await until(lambda: ScanComplete("first") in recorder.started or engine.waits()["manual"] == 1)
    await _has_arrived(engine)
    for _ in range(30):
        may_end.release()
    await recorder.until_ended(31)

    # With a broker, one job started before it came, and one scheduled job may run first.
    assert recorder.started.index(ScanComplete("first")) <= 3


async def test_a_job_that_takes_too_long_is_ended_and_its_batch_goes_on(
    make_engine: MakeEngine, recorder: Recorder
) -> None:
    recorder.takes = lambda job: asyncio.Event().wait() if job == RefreshFeed(1) else _at_once(job)
    engine = make_engine(recorder, hard_limit=timedelta(milliseconds=50))

    await engine.run_batch(feeds(1, 2), BatchComplete(5), Priority.MANUAL)
    await recorder.until_ended(3)

    assert recorder.ended[-1] == BatchComplete(5)


async def test_stop_waits_for_what_runs_and_hands_back_what_waits(make_engine: MakeEngine, recorder: Recorder) -> None:
    gate = asyncio.Event()
    recorder.takes = lambda job: gate.wait()
    engine = make_engine(recorder, at_once=2)
    await _submit_in_order(engine, feeds(1, 2, 3, 4), Priority.SCHEDULED)
    await recorder.until_started(2)

    undone = await _stop_and_open(engine, gate)

    assert ids(recorder.ended) == [1, 2]
    assert sorted(ids(undone)) == [3, 4]


async def test_stop_hands_back_also_what_waits_for_its_lane(make_engine: MakeEngine, recorder: Recorder) -> None:
    gate = asyncio.Event()
    recorder.takes = lambda job: gate.wait()
    engine = make_engine(recorder)
    await _submit_in_order(engine, feeds(1, 2, 3, lane="host"), Priority.SCHEDULED)
    await recorder.until_started(1)

    undone = await _stop_and_open(engine, gate)

    assert sorted(ids(undone)) == [2, 3]


async def test_a_batch_whose_last_job_ends_during_stop_has_its_callback_run(
    make_engine: MakeEngine, recorder: Recorder
) -> None:
    gate = asyncio.Event()
    recorder.takes = lambda job: gate.wait()
    engine = make_engine(recorder)
    await engine.run_batch(feeds(1), BatchComplete(5), Priority.MANUAL)
    await recorder.until_started(1)

    undone = await _stop_and_open(engine, gate)
    make_engine(recorder)  # Runs a callback that waits in a queue.
    await recorder.until_ended(2)

    assert ids(undone) == []
    assert recorder.ended == [RefreshFeed(1), BatchComplete(5)]


async def test_a_batch_that_stop_cuts_short_has_no_callback(make_engine: MakeEngine, recorder: Recorder) -> None:
    gate = asyncio.Event()
    recorder.takes = lambda job: gate.wait()
    engine = make_engine(recorder, at_once=1)
    await engine.run_batch(feeds(1, 2), BatchComplete(5), Priority.MANUAL)
    await _has_arrived(engine)
    await recorder.until_started(1)

    undone = await _stop_and_open(engine, gate)

    assert undone == [RefreshFeed(2)]
    assert BatchComplete(5) not in recorder.started


async def test_what_is_handed_in_after_stop_is_not_run(make_engine: MakeEngine, recorder: Recorder) -> None:
    engine = make_engine(recorder)
    await engine.stop()

    await engine.submit(RefreshFeed(1), Priority.MANUAL)
    # In process it would run within a few rounds of the loop; with a broker nobody listens any more.
    for _ in range(10):
        await asyncio.sleep(0)

    assert recorder.started == []


async def _stop_and_open(engine: Engine, gate: asyncio.Event) -> list[Job]:
    """Lets the jobs at the gate end only after the engine was told to stop."""
    stopping = asyncio.create_task(engine.stop())
    await asyncio.sleep(0)
    gate.set()
    return await stopping


def _fail_on(*feed_ids: int) -> Callable[[Job], Awaitable[object]]:
    async def takes(job: Job) -> None:
        if isinstance(job, RefreshFeed) and job.feed_id in feed_ids:
            raise RuntimeError(f"feed {job.feed_id} fails on purpose")

    return takes
