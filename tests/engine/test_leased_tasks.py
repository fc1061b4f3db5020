"""A chunk of leased tasks is worked through at once, within a time, and what is left of it is released."""

import asyncio
from datetime import timedelta

import pytest

from feedmill.engine.leased_tasks import run_leased_tasks
from tests.waiting import LONGEST_WAIT

LITTLE_TIME, MUCH_TIME = timedelta(milliseconds=10), timedelta(seconds=LONGEST_WAIT)


async def test_a_chunk_is_released_when_all_of_it_is_done() -> None:
    events = list[str]()

    async def work(name: str) -> None:
        events.append(name)

    async def release() -> None:
        events.append("released")

    assert await run_leased_tasks([work("a"), work("b")], MUCH_TIME, release)
    assert events == ["a", "b", "released"]


async def test_what_takes_too_long_is_stopped_before_the_chunk_is_released() -> None:
    events = list[str]()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            events.append("stopped")

    async def release() -> None:
        events.append("released")

    assert not await run_leased_tasks([work()], LITTLE_TIME, release)
    assert events == ["stopped", "released"]


async def test_a_failure_is_raised_after_the_others_are_done_and_the_chunk_is_released() -> None:
    events, failed = list[str](), asyncio.Event()

    async def fail() -> None:
        failed.set()
        raise ValueError("broken")

    async def work() -> None:
        await failed.wait()
        events.append("done")

    async def release() -> None:
        events.append("released")

    with pytest.raises(ValueError, match="broken"):
        await run_leased_tasks([fail(), work()], MUCH_TIME, release)
    assert events == ["done", "released"]


async def test_a_chunk_is_released_also_when_whoever_runs_it_is_stopped() -> None:
    begun, released = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        await asyncio.Event().wait()

    async def release() -> None:
        released.set()

    running = asyncio.create_task(run_leased_tasks([work()], MUCH_TIME, release))
    await begun.wait()
    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    assert released.is_set()
