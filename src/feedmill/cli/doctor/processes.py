"""Checks what works in the background: Redis, the server or the processes, feeds that wait, jobs that are stuck."""

import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from datetime import timedelta

from feedmill.adapters.coordination import connect_coordination, ping_redis, redis_eviction_policy
from feedmill.cli.doctor.findings import CheckContext, Finding, error, ok, warning
from feedmill.errors import CoordinationUnavailable, FeedmillError
from feedmill.i18n.messages import Message
from feedmill.optional_imports import MissingExtra
from feedmill.serve.data_lock import LOCK_FILE_NAME, lock_holder
from feedmill.settings import Settings
from feedmill.store.admin.failure_counts import abandoned_batches, failed_filter_jobs, overdue_maintenance_tasks
from feedmill.store.admin.metrics import count_due_feeds

NO_EVICTION = "noeviction"
# A scan finds due feeds every 30 s, or every minute.
LATE_AFTER = timedelta(minutes=15)
ABANDONED_AFTER = timedelta(hours=1)
MAINTENANCE_LATE_AFTER = timedelta(days=2)


async def check_redis(context: CheckContext) -> AsyncIterator[Finding]:
    if not _uses_redis(context.settings):
        yield ok(Message("doctor.redis_unused"))
        return
    started = time.perf_counter()
    try:
        await ping_redis(context.settings)
        milliseconds = round((time.perf_counter() - started) * 1000)
        policy = await redis_eviction_policy(context.settings)
    except MissingExtra as problem:
        yield error(Message("doctor.extra_missing", reason=problem.message), Message("doctor.extra_missing_help"))
        return
    except FeedmillError as problem:
        yield error(Message("doctor.redis_unusable", reason=problem.message), Message("doctor.redis_unusable_help"))
        return
    yield ok(Message("doctor.redis_ok", milliseconds=milliseconds))
    if policy not in (None, NO_EVICTION):
        yield warning(Message("doctor.redis_evicts", policy=str(policy)), Message("doctor.redis_evicts_help"))


async def check_processes(context: CheckContext) -> AsyncIterator[Finding]:
    if not _uses_redis(context.settings):
        yield _embedded_server(context.settings)
        return
    try:
        async with connect_coordination(context.settings) as coordination:
            running = set(await coordination.presence.count_by_role())
    except (CoordinationUnavailable, FeedmillError):
        return  # the check of Redis reports why
    for finding in judge_processes(running):
        yield finding


def judge_processes(running: set[str]) -> Iterator[Finding]:
    """`running` are the roles of the processes that show themselves in Redis."""
    if not running:
        yield warning(Message("doctor.no_process"), Message("doctor.no_process_help"))
        return
    if not running & {"worker", "serve"}:
        yield error(Message("doctor.no_worker"), Message("doctor.no_worker_help"))
    if not running & {"scheduler", "serve"}:
        yield error(Message("doctor.no_scheduler"), Message("doctor.no_scheduler_help"))
    yield ok(Message("doctor.processes_running", roles=", ".join(sorted(running))))


def _embedded_server(settings: Settings) -> Finding:
    with suppress(FileNotFoundError, NotADirectoryError):
        os.stat(settings.data / LOCK_FILE_NAME)  # whoever may not look there can't tell whether a server runs
    process = lock_holder(settings.data)
    if process is None:
        return ok(Message("doctor.server_not_running"))
    return ok(Message("doctor.server_running", process=process))


async def check_late_feeds(context: CheckContext) -> AsyncIterator[Finding]:
    if context.db is None:
        return
    due = await count_due_feeds(context.db, context.now)
    if due.oldest > LATE_AFTER:
        yield warning(Message("doctor.feeds_late", n=due.late, since=due.oldest), _late_help(context.settings))


def _late_help(settings: Settings) -> Message:
    if _uses_redis(settings):
        return Message("doctor.feeds_late_workers_help")
    if lock_holder(settings.data) is None:
        return Message("doctor.feeds_late_server_help")
    return Message("doctor.feeds_late_busy_help")


async def check_jobs(context: CheckContext) -> AsyncIterator[Finding]:
    if context.db is None:
        return
    if n := await abandoned_batches(context.db, context.now - ABANDONED_AFTER):
        yield warning(Message("doctor.batches_abandoned", n=n), Message("doctor.batches_abandoned_help"))
    if n := await failed_filter_jobs(context.db):
        yield warning(Message("doctor.filter_jobs_failed", n=n), Message("doctor.filter_jobs_failed_help"))
    if tasks := await overdue_maintenance_tasks(context.db, context.now - MAINTENANCE_LATE_AFTER):
        text = Message("doctor.maintenance_late", tasks=", ".join(tasks))
        yield warning(text, Message("doctor.maintenance_late_help"))


def _uses_redis(settings: Settings) -> bool:
    return bool(settings.redis.get_secret_value())
