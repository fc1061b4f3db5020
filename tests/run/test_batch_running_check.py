"""Jobs check whether their batch was cancelled; the database is queried a few times a second for all of them."""

import asyncio
from typing import Any

import pytest

from feedmill.errors import DatabaseUnavailable
from feedmill.run.batch_running_check import CACHE_SECONDS, BatchRunningCheck
from feedmill.store.database import Database, Row
from feedmill.store.jobs.batches import cancel_batch, start_batch
from tests.flows.refresh_environment import RefreshEnvironment


class Clock:
    """A clock that stands still until a test moves it."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def counting(db: Database, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The statements that are executed from now on."""
    asked: list[Any] = []
    query = db.query

    async def count(statement: Any, params: Any = ()) -> list[Row]:
        asked.append(statement)
        return await query(statement, params)

    monkeypatch.setattr(db, "query", count)
    return asked


async def test_jobs_that_start_at_once_share_one_query(
    env: RefreshEnvironment, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch_id, _ = await start_batch(env.db, "refresh_all", [], env.now)
    asked = counting(env.db, monkeypatch)
    cancellation = BatchRunningCheck(env.db, clock)

    answers = await asyncio.gather(*(cancellation.is_running(batch_id) for _ in range(100)))

    assert (set(answers), len(asked)) == ({True}, 1)


async def test_a_cancelled_batch_is_noticed_a_moment_later(env: RefreshEnvironment, clock: Clock) -> None:
    batch_id, _ = await start_batch(env.db, "refresh_all", [], env.now)
    cancellation = BatchRunningCheck(env.db, clock)
    before = await cancellation.is_running(batch_id)

    await cancel_batch(env.db, batch_id, env.now)
    clock.now += CACHE_SECONDS

    assert (before, await cancellation.is_running(batch_id)) == (True, False)


async def test_a_cancelled_job_does_not_cancel_the_shared_query(env: RefreshEnvironment, clock: Clock) -> None:
    batch_id, _ = await start_batch(env.db, "refresh_all", [], env.now)
    cancellation = BatchRunningCheck(env.db, clock)
    first, second = [asyncio.ensure_future(cancellation.is_running(batch_id)) for _ in range(2)]
    await asyncio.sleep(0)

    first.cancel()

    assert await second


async def test_a_failure_is_reported_to_all_callers_and_then_retried(
    env: RefreshEnvironment, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch_id, _ = await start_batch(env.db, "refresh_all", [], env.now)
    cancellation = BatchRunningCheck(env.db, clock)

    async def broken(statement: Any, params: Any = ()) -> list[Row]:
        raise DatabaseUnavailable("gone")

    with monkeypatch.context() as patched:
        patched.setattr(env.db, "query", broken)
        ends = await asyncio.gather(*(cancellation.is_running(batch_id) for _ in range(3)), return_exceptions=True)
    clock.now += CACHE_SECONDS

    assert [type(end) for end in ends] == [DatabaseUnavailable] * 3
    assert await cancellation.is_running(batch_id)
