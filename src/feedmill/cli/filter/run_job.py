"""Works on a job of a filter in this process and shows its progress."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import click

from feedmill.cli.filter.filter_records import job_record, job_text
from feedmill.cli.output.json_records import print_record
from feedmill.cli.output.print_text import print_text
from feedmill.library.filters.filter_jobs import cancel_filter_job, watch_filter_job
from feedmill.library.filters.work_on_jobs import FilterJobWorker
from feedmill.model.filters.filter_history import FilterJob
from feedmill.run.run_in_background import run_in_background
from feedmill.settings import Settings
from feedmill.store.database import Database
from feedmill.store.search.index_missing_entries import index_missing_entries

# A worker that finds no job looks again after this time: another process may work on it, or have died with it.
LOOK_AGAIN = timedelta(seconds=1)


async def finish_job(db: Database, settings: Settings, started: FilterJob, user_id: int, as_json: bool) -> FilterJob:
    """Works on jobs until this one has ended. A server that runs may do some of it. Ctrl-C cancels the job."""
    job = started
    try:
        if started.waits_for_index:
            # Perhaps no server runs that would do it.
            print_text("entries that are missing in the search index are added first", err=True)
            await index_missing_entries(db)
        async with run_in_background(_work(FilterJobWorker(db, settings.later_for).work)):
            async for job in watch_filter_job(db, user_id, started.id):
                _show_progress(job, as_json)
    except asyncio.CancelledError:
        await cancel_filter_job(db, user_id, started.id, datetime.now(UTC))
        raise
    return job


def report_job(job: FilterJob | None, as_json: bool) -> None:
    """Says how the job ended; it is a failure of the command if the job failed."""
    if job is None:
        return
    if not as_json:
        print_text(job_text(job))
        if job.can_undo:
            print_text(f"'feedmill filter undo USER {job.id}' takes it back")
    if job.status == "failed":
        raise click.exceptions.Exit(1)


async def _work(work: Callable[[], Awaitable[int]]) -> None:
    while True:
        if not await work():
            await asyncio.sleep(LOOK_AGAIN.total_seconds())


def _show_progress(job: FilterJob, as_json: bool) -> None:
    if as_json:
        print_record(job_record(job))
    elif sys.stderr.isatty():
        # Over the line before, which the summary replaces.
        shown = f"{job.looked_at} of {max(job.total, job.looked_at)} looked at, {job.changed} changed"
        click.echo(f"\r\x1b[K{shown if job.status == 'running' else ''}", nl=False, err=True)
