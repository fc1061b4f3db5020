"""Runs work periodically, whatever becomes of one run."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

from feedmill.dependency_outages import DEPENDENCY_OUTAGES
from feedmill.errors import InfrastructureError
from feedmill.lazy_loggers import get_logger

log = get_logger(__name__)


async def run_periodically(what: str, work: Callable[[], Awaitable[object]], every: timedelta) -> None:
    """Does the work, called `what` in the log, now and then every so often; cancel it to stop."""
    while True:
        try:
            await work()
            DEPENDENCY_OUTAGES.worked(what)
        except InfrastructureError as error:
            DEPENDENCY_OUTAGES.failed(what, error)
        except Exception:  # Whatever it is, a loop that ended because of it would be missed by nobody.
            log.exception("task_crashed", task=what)
        await asyncio.sleep(every.total_seconds())
