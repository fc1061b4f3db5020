"""Starts, watches and cancels the jobs that apply a filter to stored entries or take back what it did."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import datetime

from feedmill.errors import Conflict, NotFound
from feedmill.i18n.messages import Message
from feedmill.library.filters.manage_filters import find_filter, no_such_filter
from feedmill.model.filters.filter_history import FilterJob
from feedmill.store.database import Database
from feedmill.store.filters import filter_jobs as store
from feedmill.store.filters.filters import can_be_reverted

# Seconds between two looks at a job that is watched.
PROGRESS_INTERVAL = 0.2


class FilterIsOff(Conflict):
    """A filter that is off is not applied, neither to new entries nor to stored ones."""

    code = "filter_is_off"


class NothingToUndo(Conflict):
    """The job is still running, changed nothing, or is itself an undo."""

    code = "nothing_to_undo"


class NothingToRepeat(Conflict):
    """The job is still running, or is done."""

    code = "nothing_to_repeat"


async def apply_backwards(db: Database, user_id: int, filter_id: int, now: datetime) -> FilterJob:
    """Starts to apply the filter to the user's stored entries, or joins the job that does; raises `FilterIsOff`."""
    if not (await find_filter(db, user_id, filter_id)).enabled:
        raise FilterIsOff(Message("error.filter_is_off"))
    return await store.start_filter_job(db, user_id, filter_id, "apply", now)


async def undo_job(db: Database, user_id: int, job_id: int, now: datetime) -> FilterJob:
    """Starts to take back what a job changed, as far as the user has not changed it since."""
    job = await find_filter_job(db, user_id, job_id)
    if not job.can_undo:
        raise NothingToUndo(Message("error.filter_job_not_undoable"))
    return await store.start_filter_job(db, user_id, job.filter_id, "undo", now, undoes=job.id)


async def revert_filter(db: Database, user_id: int, filter_id: int, now: datetime) -> FilterJob:
    """Starts to take back all that the filter changed, as far as the user has not changed it since.

    Also of a deleted filter, as long as something is left of what it did; else `NotFound`.
    """
    if not await can_be_reverted(db, user_id, filter_id):
        raise no_such_filter()
    return await store.start_filter_job(db, user_id, filter_id, "revert", now)


async def start_job_again(db: Database, user_id: int, job_id: int, now: datetime) -> FilterJob:
    """Starts a job that failed or was cancelled from the beginning: what is done already is not done again."""
    job = await find_filter_job(db, user_id, job_id)
    if not job.can_start_again:
        raise NothingToRepeat(Message("error.filter_job_not_repeatable"))
    if job.kind == "apply":
        return await apply_backwards(db, user_id, job.filter_id, now)
    return await store.start_filter_job(db, user_id, job.filter_id, job.kind, now, undoes=job.undoes_job_id)


async def find_filter_job(db: Database, user_id: int, job_id: int) -> FilterJob:
    """The user's job, or `NotFound`, also for somebody else's."""
    found = await store.filter_job_of(db, user_id, job_id)
    if found is None:
        raise NotFound(Message("error.no_such_job"))
    return found


async def jobs_of_filter(db: Database, user_id: int, filter_id: int, most: int = 10) -> list[FilterJob]:
    """The jobs of the filter, the newest first."""
    await find_filter(db, user_id, filter_id)
    return await store.filter_jobs_of(db, user_id, filter_id, most)


async def running_filter_jobs(db: Database, user_id: int) -> list[FilterJob]:
    return await store.running_filter_jobs(db, user_id)


async def cancel_filter_job(db: Database, user_id: int, job_id: int, now: datetime) -> bool:
    """Ends the job; what it did stays, and can be undone. False when it had ended already."""
    return await store.cancel_filter_job(db, user_id, (await find_filter_job(db, user_id, job_id)).id, now)


async def watch_filter_job(db: Database, user_id: int, job_id: int) -> AsyncGenerator[FilterJob, None]:
    """The job after each change, until it has ended."""
    last: FilterJob | None = None
    while True:
        job = await find_filter_job(db, user_id, job_id)
        if job != last:
            yield job
            last = job
        if job.status != "running":
            return
        await asyncio.sleep(PROGRESS_INTERVAL)
