"""What goes wrong during a day with Celery: workers are killed, Redis is restarted, PostgreSQL fails over."""

import asyncio
import signal
from itertools import count
from pathlib import Path
from typing import Protocol

from progress import Progress

from tests.services.postgres_replica import promote
from tests.services.server import Restartable

KILL_EVERY = 60.0


class RunningDay(Protocol):
    progress: Progress

    def start_process(self, work: Path, name: str) -> None: ...
    def kill_process(self, name: str) -> None: ...


async def make_faults(
    day: RunningDay,
    work: Path,
    primary: Restartable,
    standby: Restartable,
    redis: Restartable,
    lasts: float,
    workers: int,
) -> None:
    """Spreads the faults over the real seconds that the day lasts."""
    await asyncio.gather(
        _kill_workers(day, work, min(KILL_EVERY, lasts / 4), workers),
        _restart_redis(day, redis, lasts),
        _fail_over(day, primary, standby, lasts),
    )


async def _kill_workers(day: RunningDay, work: Path, every: float, workers: int) -> None:
    names = [f"worker-{number}" for number in range(1, workers + 1)]
    for number in count():
        await asyncio.sleep(every)
        old, new = names[number % workers], f"worker-{workers + number + 1}"
        day.progress.say(f"kills {old}, starts {new}")
        day.kill_process(old)
        day.start_process(work, new)
        names[number % workers] = new


async def _restart_redis(day: RunningDay, redis: Restartable, lasts: float) -> None:
    for _ in range(2):
        await asyncio.sleep(lasts / 4)
        day.progress.say("restarts Redis")
        await asyncio.to_thread(redis.stop, signal.SIGKILL)
        await asyncio.sleep(min(5, lasts / 20))
        await asyncio.to_thread(redis.start)


async def _fail_over(day: RunningDay, primary: Restartable, standby: Restartable, lasts: float) -> None:
    await asyncio.sleep(lasts * 0.6)
    day.progress.say("kills the primary of PostgreSQL")
    await asyncio.to_thread(primary.stop, signal.SIGKILL)
    await asyncio.sleep(min(5, lasts / 20))
    await asyncio.to_thread(promote, standby)
    day.progress.say("the standby is the primary")
