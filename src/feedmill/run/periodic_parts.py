"""Everything that one process does periodically."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from feedmill.app import App
from feedmill.run.embedded import EmbeddedParts
from feedmill.run.filter_jobs import keep_working_on_filter_jobs
from feedmill.run.maintenance import make_maintenance
from feedmill.run.outbound_tasks import make_outbound_tasks
from feedmill.run.run_in_background import run_in_background


@asynccontextmanager
async def run_periodic_parts(app: App, parts: EmbeddedParts) -> AsyncIterator[None]:
    """Runs the scheduler, the resuming of batches, maintenance, pools, outbound tasks and filter jobs in the block."""
    async with run_in_background(
        parts.scheduler.run(),
        parts.batches.keep_resuming(),
        make_maintenance(app).keep_running(),
        app.pools.maintainer.run(),
        make_outbound_tasks(app).keep_running(),
        keep_working_on_filter_jobs(app),
    ):
        yield
