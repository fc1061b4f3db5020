"""The scheduler process of a scaled-out installation: beat, pools, and what else comes round by itself."""

import asyncio
from datetime import timedelta

import structlog

from feedmill.app import App
from feedmill.collect.declared import DeclaredFeeds
from feedmill.engine.beat import Beat
from feedmill.engine.looping import again_and_again
from feedmill.engine.names import SCAN
from feedmill.errors import EngineUnavailable
from feedmill.run.beside import beside
from feedmill.run.distributed import Distributed, sending
from feedmill.run.errands import errands_of
from feedmill.run.presence import present
from feedmill.store.claims import mend_far_times

log = structlog.get_logger(__name__)

LOOK_EVERY = timedelta(minutes=1)


async def keep_time(app: App, stop: asyncio.Event) -> None:
    """Sees until `stop` to it that scans and chores are begun. Two of these do no harm."""
    async with sending(app) as out, present(app.coordination.sight, "scheduler"):
        beat = Beat(out.celery)
        beat.start()
        try:
            await _scan_at_once(out)
            async with beside(
                out.batches.keep_resuming(), app.pools.keeper.keep_tending(), _keep_looking(app),
                errands_of(app).keep_running(),
            ):  # fmt: skip
                await stop.wait()
        finally:
            await beat.stop()


async def _scan_at_once(out: Distributed) -> None:
    """Beat itself begins with a pause."""
    try:
        await out.sender.engine.begin(SCAN)
    except EngineUnavailable as error:
        log.warning("the first scan waits for the broker", reason=str(error))


async def _keep_looking(app: App) -> None:
    """Does what has to be looked at before it is said what is due."""
    settings = app.settings
    declared = DeclaredFeeds(app.db, settings.feeds_file, settings.data, app.tools.rules.floor)

    async def look() -> None:
        await declared.follow()
        await mend_far_times(app.db, app.tools.clock())

    await again_and_again("declared feeds and wrong times", look, LOOK_EVERY)
