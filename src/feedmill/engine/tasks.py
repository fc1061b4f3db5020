"""The tasks that a worker offers: each hands its message to the event loop of the process and waits there."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Protocol

from celery import Celery, Task  # type: ignore[import-untyped]
from celery.exceptions import Reject  # type: ignore[import-untyped]
from celery.utils.time import get_exponential_backoff_interval  # type: ignore[import-untyped]
from structlog.contextvars import bound_contextvars

from feedmill.engine import names
from feedmill.engine.engine import NotRun
from feedmill.engine.jobs import ArchiveImages, BatchComplete, Job, Priority, RefreshFeed, ScanComplete
from feedmill.engine.messages import jobs_in

RETRIES = 3
FIRST_RETRY, LONGEST_RETRY = 2, 60

Result = dict[str, Any]
Duty = Callable[..., Coroutine[Any, Any, Result]]


class Work(Protocol):
    """What a worker does with jobs. `NotRun` sends the message back to the queue."""

    async def one(self, job: Job, priority: Priority, job_id: str) -> Result | None:
        """Runs one job; None when it left no trace and should be tried again."""

    async def lot(self, jobs: Sequence[RefreshFeed], priority: Priority, job_id: str) -> Result:
        """Runs the jobs of one message, many at a time."""


class Tasks:
    """Celery's side of a worker: a thread for each message, which does nothing but wait for the event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, work: Work) -> None:
        self._loop = loop
        self._work = work

    def refresh_feed(
        self, task: Task, feed_id: int, token: str | None = None, batch_id: int | None = None, lane: str = "",
        priority: int = Priority.MANUAL,
    ) -> Result:  # fmt: skip
        job = RefreshFeed(feed_id, token, batch_id, lane)
        result = self.wait_for(task, self._work.one(job, Priority(priority), task.request.id))
        return result or _try_again(task, feed_id)

    def refresh_feed_batch(
        self, task: Task, feeds: Mapping[str, Sequence[int]], token: str | None = None, batch_id: int | None = None,
        priority: int = Priority.SCHEDULED,
    ) -> Result:  # fmt: skip
        jobs = jobs_in(feeds, token, batch_id)
        result: Result = self.wait_for(task, self._work.lot(jobs, Priority(priority), task.request.id))
        return result

    def on_user_feeds_complete(self, task: Task, batch_id: int) -> Result:
        return self._run(task, BatchComplete(batch_id), Priority.MANUAL)

    def on_scan_complete(self, task: Task, token: str) -> Result:
        return self._run(task, ScanComplete(token), Priority.MANUAL)

    def archive_images(self, task: Task) -> Result:
        return self._run(task, ArchiveImages(), Priority.SCHEDULED)

    def wait_for(self, task: Task, work: Coroutine[Any, Any, Any]) -> Any:
        """What comes of the work; the loop runs it with what is bound here, so its log lines carry the job's id."""
        try:
            with bound_contextvars(job_id=task.request.id):
                return asyncio.run_coroutine_threadsafe(work, self._loop).result()
        except NotRun:
            raise Reject("this worker stops", requeue=True) from None

    def _run(self, task: Task, job: Job, priority: Priority) -> Result:
        result: Result = self.wait_for(task, self._work.one(job, priority, task.request.id))
        return result


def register(celery: Celery, loop: asyncio.AbstractEventLoop, work: Work, duties: Mapping[str, Duty]) -> None:
    """Makes Celery know the tasks; `duties` are those that are not jobs, by name."""
    tasks = Tasks(loop, work)
    for name in (
        names.REFRESH_FEED, names.REFRESH_LOT, names.BATCH_COMPLETE, names.SCAN_COMPLETE, names.ARCHIVE_IMAGES,
    ):  # fmt: skip
        celery.task(_as_function(getattr(tasks, name)), name=name, bind=True, shared=False, max_retries=RETRIES)
    for name, duty in duties.items():
        # Acknowledged at once: they come again by themselves, and may take longer than a message may be held.
        celery.task(_as_task(tasks, duty), name=name, bind=True, shared=False, acks_late=False)


def _as_function(method: Callable[..., Result]) -> Callable[..., Result]:
    """Celery binds a task to functions only."""

    def run(task: Task, **arguments: Any) -> Result:
        return method(task, **arguments)

    return run


def _as_task(tasks: Tasks, duty: Duty) -> Callable[..., Result]:
    def run(task: Task, **arguments: Any) -> Result:
        result: Result = tasks.wait_for(task, duty(**arguments))
        return result

    return run


def _try_again(task: Task, feed_id: int) -> Result:
    """Has a feed's job delivered again a little later; after three times the failure is the result."""
    tries = task.request.retries
    if tries < RETRIES:
        wait = get_exponential_backoff_interval(FIRST_RETRY, tries, LONGEST_RETRY, full_jitter=True)
        raise task.retry(countdown=wait)
    return {"success": False, "feed_id": feed_id, "error": "our own storage did not answer"}
