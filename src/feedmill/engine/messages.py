"""Jobs as messages and back. A message has ids in it and nothing else that could be out of date."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from feedmill.engine.jobs import ArchiveImages, BatchComplete, Job, Priority, RefreshFeed, ScanComplete
from feedmill.engine.names import (
    ARCHIVE_IMAGES,
    BATCH_COMPLETE,
    DEFAULT,
    HIGH,
    REFRESH_FEED,
    REFRESH_LOT,
    SCAN_COMPLETE,
)

# Enough that a message costs next to nothing per feed, few enough that a lot ends in seconds.
LOT = 200


@dataclass(frozen=True, slots=True)
class Message:
    """What is sent: the task's name, its arguments, and the queue it waits in."""

    task: str
    arguments: Mapping[str, Any]
    queue: str


def message_of(job: Job, priority: Priority) -> Message:
    """One job as a message of its own."""
    match job:
        case RefreshFeed():
            ids = {"feed_id": job.feed_id, "token": job.token, "batch_id": job.batch_id, "lane": job.lane}
            return Message(REFRESH_FEED, ids | {"priority": int(priority)}, _queue(priority))
        case BatchComplete():
            return Message(BATCH_COMPLETE, {"batch_id": job.batch_id}, HIGH)
        case ScanComplete():
            return Message(SCAN_COMPLETE, {"token": job.token}, HIGH)
        case ArchiveImages():
            return Message(ARCHIVE_IMAGES, {}, DEFAULT)


def messages_of(jobs: Sequence[Job], priority: Priority) -> list[Message]:
    """Many jobs: refreshes in lots, those of one host together, the others each by itself."""
    feeds = [job for job in jobs if isinstance(job, RefreshFeed)]
    others = [message_of(job, priority) for job in jobs if not isinstance(job, RefreshFeed)]
    return [_lot_message(lot, priority) for lot in _lots(feeds)] + others


def jobs_in(feeds: Mapping[str, Sequence[int]], token: str | None, batch_id: int | None) -> list[RefreshFeed]:
    """The jobs of a lot."""
    return [RefreshFeed(feed_id, token, batch_id, lane) for lane, ids in feeds.items() for feed_id in ids]


def _lots(jobs: list[RefreshFeed]) -> Iterator[list[RefreshFeed]]:
    ordered = sorted(jobs, key=lambda job: (job.token or "", job.batch_id or 0, job.lane))
    for _, together in groupby(ordered, key=lambda job: (job.token, job.batch_id)):
        lots = list(together)
        for start in range(0, len(lots), LOT):
            yield lots[start : start + LOT]


def _lot_message(jobs: list[RefreshFeed], priority: Priority) -> Message:
    feeds: dict[str, list[int]] = {}
    for job in jobs:
        feeds.setdefault(job.lane, []).append(job.feed_id)
    ids = {"feeds": feeds, "token": jobs[0].token, "batch_id": jobs[0].batch_id}
    return Message(REFRESH_LOT, ids | {"priority": int(priority)}, _queue(priority))


def _queue(priority: Priority) -> str:
    return DEFAULT if priority is Priority.SCHEDULED else HIGH
