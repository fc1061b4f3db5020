"""A clock that runs faster than ours, the same in all processes, and waits that become shorter with it."""

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from feedmill.engine import celery_app
from feedmill.engine.in_process import InProcessEngine
from feedmill.run import held_claims, scheduler_process
from feedmill.store.feeds import claims

BEGIN = "begin"


@dataclass(frozen=True)
class FastClock:
    """At `real_start` (seconds since 1970) it is `start`; from then on a real second lasts `speed` seconds."""

    start: float
    real_start: float
    speed: float

    def seconds(self) -> float:
        return self.start + (time.time() - self.real_start) * self.speed

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.seconds(), UTC)

    async def sleep(self, seconds: float) -> None:
        """Sleeps for simulated seconds."""
        await asyncio.sleep(seconds / self.speed)


def use_fast_waits(clock: FastClock, lease_seconds: float) -> None:
    """Shortens the waits of the product by the speed of the clock.

    Leases are given in real seconds and lengthened: what a refresh takes of the processor and the database does not
    get faster with the clock, and a lease that ends meanwhile would have a feed fetched twice.
    """
    lease = timedelta(seconds=lease_seconds * clock.speed)
    for function in vars(claims).values():
        defaults = getattr(function, "__defaults__", None)
        if defaults and claims.LEASE in defaults:
            function.__defaults__ = tuple(lease if value == claims.LEASE else value for value in defaults)
    held_claims.RENEW_EVERY = timedelta(seconds=lease_seconds / 3)
    celery_app.SCAN_EVERY = timedelta(seconds=max(celery_app.SCAN_EVERY.total_seconds() / clock.speed, 1))
    celery_app.VISIBILITY_TIMEOUT = timedelta(
        seconds=max(celery_app.VISIBILITY_TIMEOUT.total_seconds() / clock.speed, lease_seconds)
    )
    scheduler_process.CHECK_EVERY = timedelta(
        seconds=max(scheduler_process.CHECK_EVERY.total_seconds() / clock.speed, 1)
    )
    rest = InProcessEngine.rest

    async def rest_fast(engine: InProcessEngine, seconds: float) -> None:
        await rest(engine, seconds / clock.speed)

    setattr(InProcessEngine, "rest", rest_fast)  # noqa: B010


async def clock_of(plan: dict[str, Any], name: str) -> FastClock:
    """Says that this process is ready, and waits until the day begins."""
    folder = Path(plan["folder"])
    (folder / f"{name}.ready").touch()
    while not (folder / BEGIN).exists():  # noqa: ASYNC110 (another process writes it)
        await asyncio.sleep(0.05)
    return FastClock(plan["start"], float((folder / BEGIN).read_text()), plan["speed"])


async def begin_day(folder: Path, names: Iterable[str]) -> float:
    """Waits until these processes are ready; when the day begins, in real seconds."""
    while not all((folder / f"{name}.ready").exists() for name in names):  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    begins = time.time()
    # Renamed, so that nobody reads half of it.
    (folder / f"{BEGIN}.new").write_text(str(begins))
    (folder / f"{BEGIN}.new").rename(folder / BEGIN)
    return begins
