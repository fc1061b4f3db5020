"""Runs work periodically, also when a run fails."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

from feedmill.dependency_outages import DEPENDENCY_OUTAGES
from feedmill.errors import InfrastructureError
from feedmill.lazy_loggers import get_logger

log = get_logger(__name__)


async def run_periodically(what: str, work: Callable[[], Awaitable[object]], every: timedelta) -> None:
    """Runs `work` again and again, with a pause of `every`; `what` is its name in the log. Cancel it to stop."""
    while True:
        try:
            await work()
            DEPENDENCY_OUTAGES.worked(what)
        except InfrastructureError as error:
            DEPENDENCY_OUTAGES.failed(what, error)
        except Exception:  # Nobody would notice if the loop ended because of it.
            log.exception("task_crashed", task=what)
        await asyncio.sleep(every.total_seconds())
