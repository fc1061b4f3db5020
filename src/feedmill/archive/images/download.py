"""Downloads the images of entries into the object store. Read this file first.

    take → fetch → detect the type → reserve a key → put → record

If the process is killed at any point, the task's lease ends and it is done again, with the same key. A failure of our
own storage is not counted as an attempt: the image waits.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Protocol

from feedmill.archive.blobs import Blobs
from feedmill.archive.images.choose_downloads import choose_downloads
from feedmill.archive.images.judge_download import RETRY_DELAYS, judge_response
from feedmill.archive.images.request_options import image_request_options
from feedmill.archive.images.storage_limit import ImageStorageLimit
from feedmill.archive.object_keys import full_image_key, image_key
from feedmill.encryption import NO_ENCRYPTION, Encryption, UnreadableSecret
from feedmill.engine.leased_tasks import run_leased_tasks
from feedmill.errors import BlobError, ConstraintViolated, InfrastructureError
from feedmill.i18n.messages import Message
from feedmill.model.fetch_outcome import FetchOutcome
from feedmill.model.hosts import host_of
from feedmill.model.image import DownloadedImage, ImageDownloadFailed, ImageTask
from feedmill.outbound.client import Client
from feedmill.store.archive.image_tasks import (
    postpone_images,
    record_garbage_if_unused,
    record_image_failed,
    record_image_stored,
    release_image_tasks,
    reserve_key,
    take_image_tasks,
    waiting_images,
)
from feedmill.store.database import Database

CHUNK_SIZE = 100
# How many waiting tasks are read to find a chunk of many hosts, and how often at most.
WINDOW = 500
MAX_READS = 5
# Hosts served concurrently: while one image is stored, another is fetched. It bounds the memory too.
LANES_PER_FETCH = 2


class NetworkMonitor(Protocol):
    """Detects an outage of our own network."""

    def record(self, url: str, outcome: FetchOutcome, now: datetime) -> None: ...

    def is_down(self, now: datetime) -> bool: ...


@dataclass(frozen=True, slots=True)
class ImageTools:
    """The dependencies of image archiving. The client has its own limits for images."""

    db: Database
    blobs: Blobs
    client: Client
    network: NetworkMonitor
    storage_limit: ImageStorageLimit
    at_once: int = 5
    gap: timedelta = timedelta(seconds=1)
    soft_limit: timedelta = timedelta(seconds=80)
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    encryption: Encryption = NO_ENCRYPTION


@dataclass(slots=True)
class ImageChunkResult:
    """The result of a chunk. `error` is a failure of our own storage, after which the rest was skipped."""

    taken: int = 0
    kept: int = 0
    failed: int = 0
    error: InfrastructureError | None = field(default=None)


async def archive_images(tools: ImageTools) -> ImageChunkResult:
    """Archives one chunk of waiting images; `taken` is 0 if none wait or the storage limit is reached."""
    tasks = [] if await tools.storage_limit.is_full() else await _take(tools)
    result = ImageChunkResult(taken=len(tasks))
    if not tasks:
        return result
    slots = asyncio.Semaphore(tools.at_once * LANES_PER_FETCH)
    work = [_archive_in_order(tools, lane, slots, result) for lane in _lanes(tasks)]
    await run_leased_tasks(work, tools.soft_limit, lambda: release_image_tasks(tools.db, tasks[0].token))
    return result


async def _take(tools: ImageTools) -> list[ImageTask]:
    """Takes a few images of each host; where a host has more, the others are postponed."""
    now, ids = tools.clock(), list[int]()
    for _ in range(MAX_READS):
        waiting = await waiting_images(tools.db, now, WINDOW)
        selection = choose_downloads(waiting, CHUNK_SIZE, tools.gap, now)
        await postpone_images(tools.db, selection.postponed, now)
        ids = selection.taken
        if len(waiting) < WINDOW or not selection.postponed:
            break
    return await take_image_tasks(tools.db, ids, now)


def _lanes(tasks: Sequence[ImageTask]) -> list[list[ImageTask]]:
    """Groups tasks by host: requests to one host would wait for each other, and delay its feeds."""
    lanes: dict[str, list[ImageTask]] = {}
    for task in tasks:
        lanes.setdefault(host_of(task.url), []).append(task)
    return list(lanes.values())


async def _archive_in_order(
    tools: ImageTools, lane: list[ImageTask], slots: asyncio.Semaphore, result: ImageChunkResult
) -> None:
    async with slots:
        for task in lane:
            if result.error is not None:
                return
            try:
                await _archive(tools, task, result)
            except InfrastructureError as error:
                result.error = result.error or error


async def _archive(tools: ImageTools, task: ImageTask, result: ImageChunkResult) -> None:
    failure = await keep_image(tools, task, await fetch_image(tools, task))
    if failure is None:
        result.kept += 1
    else:
        result.failed += failure.again_at is None


async def keep_image(
    tools: ImageTools, task: ImageTask, fetched: DownloadedImage | ImageDownloadFailed
) -> ImageDownloadFailed | None:
    """Stores what was fetched, or records why it was not; returns None, or why it is not stored."""
    failure = await _store(tools, task, fetched) if isinstance(fetched, DownloadedImage) else fetched
    if failure is not None:
        await record_image_failed(tools.db, task, failure, tools.clock())
    return failure


async def fetch_image(tools: ImageTools, task: ImageTask) -> DownloadedImage | ImageDownloadFailed:
    now = tools.clock()
    try:
        options = image_request_options(task, tools.encryption)
    except UnreadableSecret as error:
        return ImageDownloadFailed(error.message, now + RETRY_DELAYS[1], counted=False)
    outcome = await tools.client.get(task.url, options=options)
    now = tools.clock()
    tools.network.record(task.url, outcome, now)
    return judge_response(outcome, task.attempts, now, offline=tools.network.is_down(now))


async def _store(tools: ImageTools, task: ImageTask, image: DownloadedImage) -> ImageDownloadFailed | None:
    """Stores the image; returns None, or why it was not stored."""
    size = len(image.body)
    if not await tools.storage_limit.allows(size):
        return ImageDownloadFailed(Message("image.no_room"), tools.clock() + RETRY_DELAYS[1], counted=False)
    key = await _reserve(tools, task, image)
    if key is None:
        return ImageDownloadFailed(Message("image.key_taken"), tools.clock() + RETRY_DELAYS[1], counted=False)
    await _put(tools, task, key, image)
    tools.storage_limit.take(size)
    digest = sha256(image.body).hexdigest()
    if not await record_image_stored(tools.db, task, image.type, size, digest, tools.clock()):
        await record_garbage_if_unused(tools.db, key, tools.clock())
    return None


async def _reserve(tools: ImageTools, task: ImageTask, image: DownloadedImage) -> str | None:
    """Reserves a key for the image; None when both are taken."""
    for make_key in (image_key, full_image_key):
        key = make_key(task.feed_id, task.guid, task.position, image.type.extension)
        try:
            if await reserve_key(tools.db, task, key, tools.clock()):
                return key
        except ConstraintViolated:
            continue
    return None


async def _put(tools: ImageTools, task: ImageTask, key: str, image: DownloadedImage) -> None:
    """Puts the object. When the store fails, the image is retried after the others."""
    try:
        await tools.blobs.put(key, image.body, image.type.content_type)
    except BlobError as error:
        now = tools.clock()
        await record_image_failed(
            tools.db, task, ImageDownloadFailed(error.message, now + RETRY_DELAYS[0], counted=False), now
        )
        raise
