"""What the engine inside one process adds to the contract: rests, grace, last words. All in virtual time."""

import asyncio
from datetime import timedelta

import pytest

from feedmill.engine.engine import JobNotRun
from feedmill.engine.in_process import InProcessEngine
from feedmill.engine.jobs import ArchiveImages, BatchComplete, Job, Priority, RefreshFeed
from feedmill.lazy_loggers import bound_fields, get_bound_fields
from tests.virtual_time import in_virtual_time, let_pass, virtual_now

SOON = timedelta(milliseconds=50)


@in_virtual_time
async def test_a_job_that_rests_lets_another_run_meanwhile() -> None:
    order: list[str] = []

    async def handler(job: Job) -> None:
        if job == RefreshFeed(1):
            order.append("1 rests")
            await engine.rest(0.05)
            order.append("1 goes on")
        else:
            order.append("2 runs")

    engine = InProcessEngine(handler, at_once=1)
    for feed_id in (1, 2):
        await engine.submit(RefreshFeed(feed_id), Priority.MANUAL)
    await engine.until_idle()

    assert order == ["1 rests", "2 runs", "1 goes on"]


@in_virtual_time
async def test_a_job_that_has_rested_goes_on_before_those_who_wait() -> None:
    ended: list[int] = []

    async def handler(job: Job) -> None:
        assert isinstance(job, RefreshFeed)
        if job.feed_id == 0:
            await engine.rest(0.02)
        await let_pass(0.01)
        ended.append(job.feed_id)

    engine = InProcessEngine(handler, at_once=1)
    for feed_id in range(50):
        await engine.submit(RefreshFeed(feed_id), Priority.MANUAL)
    await engine.until_idle()

    assert ended.index(0) < 6


@in_virtual_time
async def test_rests_never_let_more_work_than_there_are_places() -> None:
    working, most = 0, 0

    async def work() -> None:
        nonlocal working, most
        working += 1
        most = max(most, working)
        await let_pass(0.002)
        working -= 1

    async def handler(job: Job) -> None:
        await work()
        await engine.rest(0.003)
        await work()

    engine = InProcessEngine(handler, at_once=3)
    for feed_id in range(60):
        await engine.submit(RefreshFeed(feed_id), Priority.MANUAL)
    await engine.until_idle()

    assert most == 3


@in_virtual_time
async def test_no_place_is_lost_or_won_when_resting_jobs_are_cut_short() -> None:
    working, most = 0, 0

    async def handler(job: Job) -> None:
        nonlocal working, most
        if job == RefreshFeed(0):
            await engine.rest(60)
        working += 1
        most = max(most, working)
        await let_pass(0.005)
        working -= 1

    engine = InProcessEngine(handler, at_once=2, hard_limit=SOON)
    for feed_id in (0, 0, 0):
        await engine.submit(RefreshFeed(feed_id), Priority.MANUAL)
    await engine.until_idle()
    for feed_id in range(1, 9):
        await engine.submit(RefreshFeed(feed_id), Priority.MANUAL)
    await engine.until_idle()

    assert most == 2


@in_virtual_time
async def test_stop_is_over_within_its_grace_and_waits_for_last_words() -> None:
    words: list[str] = []

    async def handler(job: Job) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await let_pass(0.05)
            words.append("gave my claim back")
            raise

    engine = InProcessEngine(handler)
    await engine.submit(RefreshFeed(1), Priority.SCHEDULED)
    await let_pass(0.01)
    stopped_at = virtual_now()
    undone = await engine.stop(grace=SOON)

    assert undone == [RefreshFeed(1)]
    assert words == ["gave my claim back"]
    assert virtual_now() - stopped_at == pytest.approx(SOON.total_seconds() + 0.05)


@in_virtual_time
async def test_a_batch_that_is_cancelled_by_stop_has_no_callback() -> None:
    started: list[Job] = []

    async def handler(job: Job) -> None:
        started.append(job)
        await asyncio.Event().wait()

    engine = InProcessEngine(handler)
    await engine.run_batch([RefreshFeed(1)], BatchComplete(1), Priority.MANUAL)
    await let_pass(0.01)
    await engine.stop(grace=SOON)

    assert started == [RefreshFeed(1)]


@in_virtual_time
async def test_nobody_waits_for_ever_for_an_engine_that_was_stopped() -> None:
    async def handler(job: Job) -> None:
        await asyncio.Event().wait()

    engine = InProcessEngine(handler, at_once=1)
    for feed_id in (1, 2):
        await engine.submit(RefreshFeed(feed_id), Priority.MANUAL)
    await asyncio.sleep(0)
    await engine.stop(grace=SOON)

    await engine.until_idle()


@in_virtual_time
async def test_log_lines_of_a_job_say_which_it_is_and_with_which_message_it_came() -> None:
    async def bound(job: Job) -> object:
        await let_pass(0.01)
        return dict(get_bound_fields())

    engine = InProcessEngine(bound, at_once=1)
    jobs: list[Job] = [RefreshFeed(7, "token", batch_id=3, lane="feeds.example"), ArchiveImages()]
    runs = []
    for number, job in enumerate(jobs):
        with bound_fields(job_id=f"message {number}"):
            runs.append(engine.run_all([job], Priority.SCHEDULED))

    said = {"job": "RefreshFeed", "feed_id": 7, "batch_id": 3, "host": "feeds.example", "job_id": "message 0"}
    assert await asyncio.gather(*runs) == [[said], [{"job": "ArchiveImages", "job_id": "message 1"}]]


@in_virtual_time
async def test_who_waits_for_many_jobs_learns_how_each_one_ended() -> None:
    stuck = asyncio.Event()

    async def handler(job: Job) -> object:
        assert isinstance(job, RefreshFeed)
        if job.feed_id == 2:
            raise RuntimeError("broken")
        if job.feed_id == 3:
            await stuck.wait()
        return job.feed_id

    engine = InProcessEngine(handler, at_once=3)
    ends = engine.run_all([RefreshFeed(number) for number in (3, 2, 1, 4)], Priority.SCHEDULED)
    await let_pass(0.01)
    assert not ends.done()
    await engine.stop(grace=SOON)

    stopped, broken, *ended = await ends
    assert isinstance(stopped, JobNotRun)
    assert (broken, ended) == (None, [1, 4])
    assert all(isinstance(end, JobNotRun) for end in await engine.run_all([RefreshFeed(5)], Priority.SCHEDULED))
    assert await engine.run_all([], Priority.SCHEDULED) == []


@in_virtual_time
async def test_what_waits_is_counted_by_priority_also_behind_its_host() -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def handler(job: Job) -> None:
        begun.set()
        await go_on.wait()

    engine = InProcessEngine(handler, at_once=2)
    for feed_id in range(3):
        await engine.submit(RefreshFeed(feed_id, lane="example.org"), Priority.SCHEDULED)
    await begun.wait()
    await engine.submit(RefreshFeed(4, lane="example.org"), Priority.MANUAL)

    assert engine.waits() == {"manual": 1, "scheduled": 2}
    go_on.set()
    await engine.until_idle()
    assert set(engine.waits().values()) == {0}
