"""The scheduler process of a scaled-out installation: Celery beat, pools, batches, feeds file, search index on D1."""

import asyncio
from datetime import timedelta

from feedmill.app import App
from feedmill.collect.declared.sync_feeds import DeclaredFeeds
from feedmill.dependency_outages import DEPENDENCY_OUTAGES
from feedmill.engine.celery_beat import CeleryBeat
from feedmill.engine.run_periodically import run_periodically
from feedmill.engine.task_names import SCAN_DUE_FEEDS
from feedmill.errors import EngineUnavailable
from feedmill.run.announce_presence import announce_presence
from feedmill.run.distributed import DistributedParts, open_distributed
from feedmill.run.filter_jobs import keep_working_on_filter_jobs
from feedmill.run.index_texts import keep_indexing_texts
from feedmill.run.outbound_tasks import make_outbound_tasks
from feedmill.run.run_in_background import run_in_background
from feedmill.store.feeds.claims import FarTimesRepair

CHECK_EVERY = timedelta(minutes=1)


async def run_scheduler_process(app: App, stop: asyncio.Event) -> None:
    """Starts scans and maintenance until `stop`. Running two of these processes is harmless."""
    async with open_distributed(app) as parts, announce_presence(app.coordination.presence, "scheduler"):
        beat = CeleryBeat(parts.celery)
        beat.start()
        try:
            await _scan_at_once(parts)
            async with run_in_background(
                parts.batches.keep_resuming(),
                app.pools.maintainer.run(),
                _keep_preparing(app),
                make_outbound_tasks(app).keep_running(),
                keep_working_on_filter_jobs(app),
                keep_indexing_texts(app.db),
            ):
                await stop.wait()
        finally:
            await beat.stop()


async def _scan_at_once(parts: DistributedParts) -> None:
    """Starts the first scan, because beat begins with a pause."""
    try:
        await parts.sender.engine.send_task(SCAN_DUE_FEEDS)
    except EngineUnavailable as error:
        DEPENDENCY_OUTAGES.failed("scan_due_feeds", error)


async def _keep_preparing(app: App) -> None:
    """Periodically reads the feeds file and repairs due times, as the embedded scheduler does before a scan."""
    settings, tools = app.settings, app.tools
    declared = DeclaredFeeds(app.db, settings.feeds_file, settings.data, tools.rules.floor, encryption=tools.encryption)

    repair = FarTimesRepair(app.db, app.tools.clock)

    async def prepare() -> None:
        await declared.follow()
        await repair.run_if_due()

    await run_periodically("follow_declared_feeds", prepare, CHECK_EVERY)
