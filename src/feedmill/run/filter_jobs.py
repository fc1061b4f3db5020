"""Works on the jobs of filters as they arrive."""

from datetime import timedelta

from feedmill.app import App
from feedmill.engine.run_periodically import run_periodically
from feedmill.library.filters.work_on_jobs import FilterJobWorker

# A person waits for the progress of the job.
CHECK_EVERY = timedelta(seconds=2)


async def keep_working_on_filter_jobs(app: App) -> None:
    """Works on jobs until none is left, now and periodically; cancel it to stop. Several processes may do so."""
    worker = FilterJobWorker(app.db, app.settings.later_for)

    async def work_on_all() -> None:
        while await worker.work():
            pass

    await run_periodically("work_on_filter_jobs", work_on_all, CHECK_EVERY)
