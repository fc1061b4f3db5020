"""What goes wrong during a day with Celery: workers are killed, Redis is restarted, PostgreSQL fails over."""

import asyncio
import signal
from itertools import count

from processes import Processes
from progress import Progress

from tests.services.postgres_replica import promote
from tests.services.server import Restartable

KILL_EVERY = 60.0


async def make_faults(
    processes: Processes,
    progress: Progress,
    primary: Restartable,
    standby: Restartable,
    redis: Restartable,
    lasts: float,
    workers: int,
) -> None:
    """Spreads the faults over the real seconds that the day lasts."""
    await asyncio.gather(
        _kill_workers(processes, progress, min(KILL_EVERY, lasts / 4), workers),
        _restart_redis(progress, redis, lasts),
        _fail_over(progress, primary, standby, lasts),
    )


async def _kill_workers(processes: Processes, progress: Progress, every: float, workers: int) -> None:
    names = [f"worker-{number}" for number in range(1, workers + 1)]
    for number in count():
        await asyncio.sleep(every)
        old, new = names[number % workers], f"worker-{workers + number + 1}"
        progress.say(f"kills {old}, starts {new}")
        processes.kill(old)
        processes.start(new)
        names[number % workers] = new


async def _restart_redis(progress: Progress, redis: Restartable, lasts: float) -> None:
    for _ in range(2):
        await asyncio.sleep(lasts / 4)
        progress.say("restarts Redis")
        await asyncio.to_thread(redis.stop, signal.SIGKILL)
        await asyncio.sleep(min(5, lasts / 20))
        await asyncio.to_thread(redis.start)


async def _fail_over(progress: Progress, primary: Restartable, standby: Restartable, lasts: float) -> None:
    await asyncio.sleep(lasts * 0.6)
    progress.say("kills the primary of PostgreSQL")
    await asyncio.to_thread(primary.stop, signal.SIGKILL)
    await asyncio.sleep(min(5, lasts / 20))
    await asyncio.to_thread(promote, standby)
    progress.say("the standby is the primary")
