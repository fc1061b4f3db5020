"""Downloads the images of entries into the object store. Read this file first.

    take → fetch → recognise → reserve a key → put → settle

Killed anywhere, a task's lease ends and it is done again, to the same key. What our own storage fails at is not
counted against an image: it waits.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Protocol

from feedmill.archive.blobs import Blobs
from feedmill.archive.images.download_outcome import RETRY_DELAYS, judge_response
from feedmill.archive.images.lots import choose_lot, host_of_url
from feedmill.archive.images.request_options import image_request_options
from feedmill.archive.images.storage_limit import ImageStorageLimit
from feedmill.archive.keys import full_image_key, image_key
from feedmill.encryption import NO_ENCRYPTION, Encryption, UnreadableSecret
from feedmill.engine.concurrency import gather_all
from feedmill.errors import BlobError, ConstraintViolated, InfrastructureError
from feedmill.model.fetch_outcome import FetchOutcome
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

LOT = 100
# How many waiting tasks are looked at to find a lot of many hosts, at most so many times.
WINDOW = 500
MAX_LOOKS = 5
# Hosts that are asked side by side: while one image is put, another is fetched. It bounds the memory too.
LANES_PER_FETCH = 2


class NetworkMonitor(Protocol):
    """Who knows whether it is them or us when nobody answers."""

    def saw(self, url: str, outcome: FetchOutcome, now: datetime) -> None: ...

    def is_down(self, now: datetime) -> bool: ...


@dataclass(frozen=True, slots=True)
class ImageTools:
    """What archiving works with. The client has limits for images and its own number of fetches at once."""

    db: Database
    blobs: Blobs
    client: Client
    network: NetworkMonitor
    room: ImageStorageLimit
    at_once: int = 5
    gap: timedelta = timedelta(seconds=1)
    soft_limit: timedelta = timedelta(seconds=80)
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    encryption: Encryption = NO_ENCRYPTION


@dataclass(slots=True)
class ImageLotResult:
    """What came of a lot. `error` is what our own storage failed with; then the rest was left alone."""

    taken: int = 0
    kept: int = 0
    failed: int = 0
    error: InfrastructureError | None = field(default=None)


async def archive_images(tools: ImageTools) -> ImageLotResult:
    """Archives one lot of the images that wait; nothing taken means that nothing waits, or that there is no room."""
    tasks = [] if await tools.room.is_full() else await _take(tools)
    tally = ImageLotResult(taken=len(tasks))
    if not tasks:
        return tally
    slots = asyncio.Semaphore(tools.at_once * LANES_PER_FETCH)
    try:
        async with asyncio.timeout(tools.soft_limit.total_seconds()):
            await gather_all([_archive_in_order(tools, lane, slots, tally) for lane in _lanes(tasks)])
    except TimeoutError:
        pass  # what was not reached waits for the next lot
    finally:
        await asyncio.shield(release_image_tasks(tools.db, tasks[0].token))
    return tally


async def _take(tools: ImageTools) -> list[ImageTask]:
    """Some images of each host; where a host has too many, the others wait for their turn."""
    now, ids = tools.clock(), list[int]()
    for _ in range(MAX_LOOKS):
        waiting = await waiting_images(tools.db, now, WINDOW)
        lot = choose_lot(waiting, LOT, tools.gap, now)
        await postpone_images(tools.db, lot.later, now)
        ids = lot.taken
        if len(waiting) < WINDOW or not lot.later:
            break
    return await take_image_tasks(tools.db, ids, now)


def _lanes(tasks: Sequence[ImageTask]) -> list[list[ImageTask]]:
    """One lane for each host: side by side they would stand in each other's way, and in that of its feeds."""
    lanes: dict[str, list[ImageTask]] = {}
    for task in tasks:
        lanes.setdefault(host_of_url(task.url), []).append(task)
    return list(lanes.values())


async def _archive_in_order(
    tools: ImageTools, lane: list[ImageTask], slots: asyncio.Semaphore, tally: ImageLotResult
) -> None:
    async with slots:
        for task in lane:
            if tally.error is not None:
                return
            try:
                await _archive(tools, task, tally)
            except InfrastructureError as error:
                tally.error = tally.error or error


async def _archive(tools: ImageTools, task: ImageTask, tally: ImageLotResult) -> None:
    found = await _fetch(tools, task)
    missed = await _keep(tools, task, found) if isinstance(found, DownloadedImage) else found
    if missed is None:
        tally.kept += 1
        return
    tally.failed += missed.again_at is None
    await record_image_failed(tools.db, task, missed, tools.clock())


async def _fetch(tools: ImageTools, task: ImageTask) -> DownloadedImage | ImageDownloadFailed:
    now = tools.clock()
    try:
        options = image_request_options(task, tools.encryption)
    except UnreadableSecret as error:
        return ImageDownloadFailed(str(error), now + RETRY_DELAYS[1], counted=False)
    outcome = await tools.client.get(task.url, options=options)
    now = tools.clock()
    tools.network.saw(task.url, outcome, now)
    return judge_response(outcome, task.attempts, now, offline=tools.network.is_down(now))


async def _keep(tools: ImageTools, task: ImageTask, picture: DownloadedImage) -> ImageDownloadFailed | None:
    """Puts the image where it belongs; None when that is done, or why it is not."""
    size = len(picture.body)
    if not await tools.room.has(size):
        return ImageDownloadFailed(
            "there is no room: images_total_bytes is reached", tools.clock() + RETRY_DELAYS[1], counted=False
        )
    key = await _reserve(tools, task, picture)
    if key is None:
        return ImageDownloadFailed("its place is not free yet", tools.clock() + RETRY_DELAYS[1], counted=False)
    await _put(tools, task, key, picture)
    tools.room.take(size)
    digest = sha256(picture.body).hexdigest()
    if not await record_image_stored(tools.db, task, picture.type, size, digest, tools.clock()):
        await record_garbage_if_unused(tools.db, key, tools.clock())
    return None


async def _reserve(tools: ImageTools, task: ImageTask, picture: DownloadedImage) -> str | None:
    """The key under which the image may be put; None when both are taken."""
    for make_key in (image_key, full_image_key):
        key = make_key(task.feed_id, task.guid, task.position, picture.type.extension)
        try:
            if await reserve_key(tools.db, task, key, tools.clock()):
                return key
        except ConstraintViolated:
            continue
    return None


async def _put(tools: ImageTools, task: ImageTask, key: str, picture: DownloadedImage) -> None:
    """Puts the object. When the store fails, the image comes after the others next time, whatever the reason."""
    try:
        await tools.blobs.put(key, picture.body, picture.type.content_type)
    except BlobError as error:
        now = tools.clock()
        await record_image_failed(
            tools.db, task, ImageDownloadFailed(str(error), now + RETRY_DELAYS[0], counted=False), now
        )
        raise
