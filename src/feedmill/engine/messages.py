"""Converts jobs to queue messages and back; refreshes go in chunks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from feedmill.engine.jobs import ArchiveImages, BatchComplete, Job, Priority, RefreshFeed, ScanComplete
from feedmill.engine.task_names import (
    ARCHIVE_IMAGES,
    BATCH_COMPLETE,
    DEFAULT_QUEUE,
    HIGH_QUEUE,
    REFRESH_FEED,
    REFRESH_FEED_BATCH,
    SCAN_COMPLETE,
)

# Enough that the cost of a message per feed is negligible, few enough that a chunk ends in seconds.
FEEDS_PER_MESSAGE = 200


@dataclass(frozen=True, slots=True)
class JobMessage:
    """A Celery message: the task's name, its arguments and its queue."""

    task: str
    arguments: Mapping[str, Any]
    queue: str


def message_of(job: Job, priority: Priority) -> JobMessage:
    """One job as a message of its own."""
    match job:
        case RefreshFeed():
            ids = {"feed_id": job.feed_id, "token": job.token, "batch_id": job.batch_id, "lane": job.lane}
            return JobMessage(REFRESH_FEED, ids | {"priority": int(priority)}, _queue(priority))
        case BatchComplete():
            return JobMessage(BATCH_COMPLETE, {"batch_id": job.batch_id}, HIGH_QUEUE)
        case ScanComplete():
            return JobMessage(SCAN_COMPLETE, {"token": job.token}, HIGH_QUEUE)
        case ArchiveImages():
            return JobMessage(ARCHIVE_IMAGES, {}, DEFAULT_QUEUE)


def messages_of(jobs: Sequence[Job], priority: Priority) -> list[JobMessage]:
    """Many jobs as messages: refreshes in chunks, those of one host together; other jobs one by one."""
    feeds = [job for job in jobs if isinstance(job, RefreshFeed)]
    others = [message_of(job, priority) for job in jobs if not isinstance(job, RefreshFeed)]
    return [_chunk_message(chunk, priority) for chunk in _chunks(feeds)] + others


def jobs_of_chunk(feeds: Mapping[str, Sequence[int]], token: str | None, batch_id: int | None) -> list[RefreshFeed]:
    """The jobs of a chunk's message."""
    return [RefreshFeed(feed_id, token, batch_id, lane) for lane, ids in feeds.items() for feed_id in ids]


def _chunks(jobs: list[RefreshFeed]) -> Iterator[list[RefreshFeed]]:
    ordered = sorted(jobs, key=lambda job: (job.token or "", job.batch_id or 0, job.lane))
    for _, group in groupby(ordered, key=lambda job: (job.token, job.batch_id)):
        together = list(group)
        for start in range(0, len(together), FEEDS_PER_MESSAGE):
            yield together[start : start + FEEDS_PER_MESSAGE]


def _chunk_message(jobs: list[RefreshFeed], priority: Priority) -> JobMessage:
    feeds: dict[str, list[int]] = {}
    for job in jobs:
        feeds.setdefault(job.lane, []).append(job.feed_id)
    ids = {"feeds": feeds, "token": jobs[0].token, "batch_id": jobs[0].batch_id}
    return JobMessage(REFRESH_FEED_BATCH, ids | {"priority": int(priority)}, _queue(priority))


def _queue(priority: Priority) -> str:
    return DEFAULT_QUEUE if priority is Priority.SCHEDULED else HIGH_QUEUE
