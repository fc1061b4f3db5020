"""A loop outlives whatever its work comes to."""

import asyncio
from datetime import timedelta

from feedmill.engine.looping import again_and_again
from feedmill.errors import DatabaseUnavailable


async def test_the_work_is_done_again_after_any_failure() -> None:
    failures = [DatabaseUnavailable("gone"), FileNotFoundError("replaced")]
    done = asyncio.Event()

    async def work() -> None:
        if failures:
            raise failures.pop()
        done.set()

    looping = asyncio.create_task(again_and_again("a test", work, timedelta()))
    async with asyncio.timeout(10):
        await done.wait()
    looping.cancel()

    assert not failures
