"""Runs a test in virtual time: when everything waits, the clock jumps to the next timer.

The order of events then follows from their times alone, on the slowest machine too. For code that uses asyncio and
nothing else: an answer from a thread, a file or a socket would take no virtual time at all. A test that needs those
runs in real time and may `jump` over a long wait.
"""

import asyncio
import selectors
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import ParamSpec

P = ParamSpec("P")


class JumpingSelector(selectors.DefaultSelector):
    """Does not wait for the next timer: when no event is ready, it advances the time."""

    def __init__(self) -> None:
        super().__init__()
        self.passed = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        events = super().select(0)
        if not events:
            assert timeout is not None, "every task waits for something that never comes"
            self.passed += timeout
        return events


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.passed


def in_virtual_time(test: Callable[P, Awaitable[None]]) -> Callable[P, None]:
    """Turns an async test into a plain one that runs on its own loop; its fixtures must not need a loop."""

    @wraps(test)
    def run(*args: P.args, **kw: P.kwargs) -> None:
        async def body() -> None:
            await test(*args, **kw)

        with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
            runner.run(body())

    return run


def virtual_now() -> float:
    """The time of the running loop, for code that takes a clock."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualTimeLoop)
    return loop.time()


async def let_pass(seconds: float) -> None:
    """Sleeps in virtual time; refuses to do so in real time."""
    virtual_now()
    await asyncio.sleep(seconds)


def jump(seconds: float) -> None:
    """Advances the clock of the running loop in a test that runs in real time: timers until then are due now."""
    loop = asyncio.get_running_loop()
    time_before = loop.time
    loop.time = lambda: time_before() + seconds  # type: ignore[method-assign]
