"""The Celery tasks of a worker: each hands its message to the event loop and waits for the result."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Protocol

from celery import Celery, Task  # type: ignore[import-untyped]
from celery.exceptions import Reject  # type: ignore[import-untyped]
from celery.utils.time import get_exponential_backoff_interval  # type: ignore[import-untyped]

from feedmill.engine import task_names
from feedmill.engine.engine import JobNotRun
from feedmill.engine.jobs import ArchiveImages, BatchComplete, Job, Priority, RefreshFeed, ScanComplete
from feedmill.engine.messages import jobs_of_chunk
from feedmill.engine.task_arguments import known_arguments, named_arguments, read_id, read_priority
from feedmill.lazy_loggers import bound_fields

MAX_RETRIES = 3
FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 2, 60

TaskResult = dict[str, Any]
TaskFunction = Callable[..., Coroutine[Any, Any, TaskResult]]


class JobRunner(Protocol):
    """Runs the jobs of messages. `JobNotRun` sends the message back to the queue."""

    async def run_job(self, job: Job, priority: Priority, job_id: str) -> TaskResult | None:
        """Runs one job; None when nothing was recorded and it should be retried."""

    async def run_chunk(self, jobs: Sequence[RefreshFeed], priority: Priority, job_id: str) -> TaskResult:
        """Runs the jobs of one message concurrently."""


class CeleryTasks:
    """The bodies of the Celery tasks: each runs in a thread that only waits for the event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, runner: JobRunner) -> None:
        self._loop = loop
        self._runner = runner

    def refresh_feed(
        self,
        task: Task,
        feed_id: int | str,
        token: str | None = None,
        batch_id: int | None = None,
        lane: str = "",
        priority: int | str = Priority.MANUAL,
    ) -> TaskResult:
        """Refreshes a feed; the result names it as the message does."""
        if (number := read_id(feed_id)) is None:
            return {"success": True, "feed_id": feed_id, "skipped": True, "reason": "feed_deleted"}
        job = RefreshFeed(number, token, batch_id, lane)
        result = self.wait_for(task, self._runner.run_job(job, read_priority(priority), task.request.id))
        return (result or _retry(task, number)) | {"feed_id": feed_id}

    def refresh_feed_batch(
        self,
        task: Task,
        feeds: Mapping[str, Sequence[int]],
        token: str | None = None,
        batch_id: int | None = None,
        priority: int = Priority.SCHEDULED,
    ) -> TaskResult:
        jobs = jobs_of_chunk(feeds, token, batch_id)
        result: TaskResult = self.wait_for(task, self._runner.run_chunk(jobs, Priority(priority), task.request.id))
        return result

    def on_user_feeds_complete(self, task: Task, batch_id: int) -> TaskResult:
        return self._run(task, BatchComplete(batch_id), Priority.MANUAL)

    def on_scan_complete(self, task: Task, token: str) -> TaskResult:
        return self._run(task, ScanComplete(token), Priority.MANUAL)

    def archive_images(self, task: Task) -> TaskResult:
        return self._run(task, ArchiveImages(), Priority.SCHEDULED)

    def schedule_image_processing(self, task: Task) -> TaskResult:
        """The same as `archive_images`: which images wait is in the database."""
        return self.archive_images(task)

    def wait_for(self, task: Task, work: Coroutine[Any, Any, Any]) -> Any:
        """Runs a coroutine on the event loop and returns its result; its log lines carry the job id."""
        try:
            with bound_fields(job_id=task.request.id):
                return asyncio.run_coroutine_threadsafe(work, self._loop).result()
        except JobNotRun:
            raise Reject("this worker stops", requeue=True) from None

    def _run(self, task: Task, job: Job, priority: Priority) -> TaskResult:
        result: TaskResult = self.wait_for(task, self._runner.run_job(job, priority, task.request.id))
        return result


def register_tasks(
    celery: Celery, loop: asyncio.AbstractEventLoop, runner: JobRunner, periodic: Mapping[str, TaskFunction]
) -> None:
    """Registers the tasks with Celery; `periodic` are those that are not jobs, by name."""
    tasks = CeleryTasks(loop, runner)
    for name in (
        task_names.REFRESH_FEED,
        task_names.REFRESH_FEED_BATCH,
        task_names.BATCH_COMPLETE,
        task_names.SCAN_COMPLETE,
        task_names.ARCHIVE_IMAGES,
        task_names.SCHEDULE_IMAGES,
    ):
        celery.task(
            _as_function(name, getattr(tasks, name)), name=name, bind=True, shared=False, max_retries=MAX_RETRIES
        )
    for name, function in periodic.items():
        # Acknowledged early: they are sent periodically, and may take longer than the visibility timeout.
        celery.task(_as_task(tasks, name, function), name=name, bind=True, shared=False, acks_late=False)


def _as_function(name: str, method: Callable[..., TaskResult]) -> Callable[..., TaskResult]:
    """Wraps a method in a function, because Celery binds only functions."""

    def run(task: Task, *positional: Any, **named: Any) -> TaskResult:
        return method(task, **known_arguments(method, named_arguments(name, positional, named)))

    return run


def _as_task(tasks: CeleryTasks, name: str, function: TaskFunction) -> Callable[..., TaskResult]:
    def run(task: Task, *positional: Any, **named: Any) -> TaskResult:
        arguments = known_arguments(function, named_arguments(name, positional, named))
        result: TaskResult = tasks.wait_for(task, function(**arguments))
        return result

    return run


def _retry(task: Task, feed_id: int) -> TaskResult:
    """Retries a feed's job after a delay; after three retries the failure is the result."""
    retries = task.request.retries
    if retries < MAX_RETRIES:
        wait = get_exponential_backoff_interval(FIRST_RETRY_SECONDS, retries, MAX_RETRY_SECONDS, full_jitter=True)
        raise task.retry(countdown=wait)
    return {"success": False, "feed_id": feed_id, "error": "our own storage did not answer"}
