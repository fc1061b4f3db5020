"""Waits for a condition instead of a fixed time; a timeout says what did not happen."""

import asyncio
import time
from collections.abc import Awaitable, Callable

# Far longer than anything takes on an idle machine: only a broken test reaches it.
LONGEST_WAIT = 60.0
BETWEEN_LOOKS = 0.02


async def until(
    condition: Callable[[], Awaitable[bool] | bool], seconds: float = LONGEST_WAIT, otherwise: str = "it is not so"
) -> None:
    """Returns as soon as the condition, plain or awaited, is true; fails with `otherwise` after the given seconds."""
    deadline = time.monotonic() + seconds
    while True:
        answer = condition()
        if answer if isinstance(answer, bool) else await answer:
            return
        assert time.monotonic() < deadline, f"after {seconds} s {otherwise}"
        await asyncio.sleep(BETWEEN_LOOKS)


async def slow_pace(seconds: float = 0.05) -> None:
    """The pause of a slow client between two actions; the result of the test does not depend on its length."""
    await asyncio.sleep(seconds)


async def fault_lasts(seconds: float) -> None:
    """How long a fault lasts, or how long it is delayed: chosen by the test, not a wait for a condition."""
    await asyncio.sleep(seconds)


def let_live(seconds: float) -> None:
    """The same for a test without an event loop: how long a process runs before it is killed."""
    time.sleep(seconds)


def wait_until(condition: Callable[[], bool], seconds: float = LONGEST_WAIT, otherwise: str = "it is not so") -> None:
    """The same for a test without an event loop."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"after {seconds} s {otherwise}"
        time.sleep(BETWEEN_LOOKS)
