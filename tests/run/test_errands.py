"""Errands: worked off as they come, whatever goes wrong."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from feedmill.errors import DatabaseUnavailable
from feedmill.run.errands import Errands

SOON = timedelta(milliseconds=1)


@dataclass
class Work:
    """Does what a list says, lot by lot; then it is done."""

    lots: list[int | Exception]
    done: asyncio.Event = field(default_factory=asyncio.Event)

    async def work(self) -> int:
        if not self.lots:
            self.done.set()
            return 0
        lot = self.lots.pop(0)
        if isinstance(lot, Exception):
            raise lot
        return lot

    deliver = read_pages = work


async def _run(*works: Any) -> None:
    running = asyncio.create_task(Errands(*works, every=SOON).keep_running())
    async with asyncio.timeout(5):
        await asyncio.gather(*(work.done.wait() for work in works))
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running


async def test_what_fails_is_tried_again_and_holds_up_nobody_else() -> None:
    broken = Work([DatabaseUnavailable("away"), ValueError("a mistake of ours"), 3])
    sound = Work([2, 1])

    await _run(broken, sound)

    assert (broken.lots, sound.lots) == ([], [])
