"""A loop outlives whatever its work comes to."""

import asyncio
from datetime import timedelta

from feedmill.engine.run_periodically import run_periodically
from feedmill.errors import DatabaseUnavailable
from tests.waiting import LONGEST_WAIT


async def test_the_work_is_done_again_after_any_failure() -> None:
    failures = [DatabaseUnavailable("gone"), FileNotFoundError("replaced")]
    done = asyncio.Event()

    async def work() -> None:
        if failures:
            raise failures.pop()
        done.set()

    looping = asyncio.create_task(run_periodically("a test", work, timedelta()))
    async with asyncio.timeout(LONGEST_WAIT):
        await done.wait()
    looping.cancel()

    assert not failures
