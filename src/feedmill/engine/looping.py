"""Work that is never done: again and again, whatever becomes of it this time."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import structlog

from feedmill.errors import InfrastructureError

log = structlog.get_logger(__name__)


async def again_and_again(what: str, work: Callable[[], Awaitable[object]], every: timedelta) -> None:
    """Does the work now and then every so often; cancel it to stop."""
    while True:
        try:
            await work()
        except InfrastructureError as error:
            log.warning("something failed; it is tried again", what=what, reason=str(error))
        except Exception:  # Whatever it is, a loop that ended because of it would be missed by nobody.
            log.exception("something failed; it is tried again", what=what)
        await asyncio.sleep(every.total_seconds())
