"""Fetches an image that is not archived when somebody looks at it, and archives it.

Images of feeds that archive none are fetched and shown, but not stored. Concurrent viewers of an image share one
fetch; the lease of the image task shares it with the image worker and with other processes.
"""

import asyncio
from collections import Counter
from datetime import datetime, timedelta
from typing import NamedTuple

from feedmill.archive.images.download import ImageTools, fetch_image, keep_image
from feedmill.archive.images.judge_download import RETRY_DELAYS
from feedmill.errors import InfrastructureError, NotFound
from feedmill.i18n.messages import Message
from feedmill.lazy_loggers import get_logger
from feedmill.library.entries.article import find_entry
from feedmill.model.feed import ArchivePolicy
from feedmill.model.image import DownloadedImage, ImageDownloadFailed, ImageStatus, ImageTask
from feedmill.store.archive.entry_images import PASSING_REASONS, EntryImageState, add_extra_image, entry_image
from feedmill.store.archive.image_tasks import release_image_tasks, take_image_task_now, unrecorded_image_task
from feedmill.store.entries.visible_entries import visible_entries

log = get_logger(__name__)

# How long a viewer waits. The fetch goes on afterwards. It is short because browsers open few connections to a site.
WAIT = timedelta(seconds=6)
# How long a fetch waits for another process that has the task, and how often it looks.
LEASE_WAIT = timedelta(seconds=60)
LOOK_EVERY = timedelta(seconds=0.5)
# Fetches at once, and those of them that one reader began: images of slow hosts must not keep others from theirs.
MAX_RUNNING = 200
MAX_RUNNING_PER_USER = 20
# How often a task is looked at that another process takes each time.
MAX_LOOKS = 3
# An image without a task has no time of its next attempt.
FAILURE_KEPT = RETRY_DELAYS[0]
MAX_FAILURES = 1000
NO_TURN = Message("image.no_turn")


class StoredKey(NamedTuple):
    """The image is archived under this key."""

    key: str


ViewedImage = StoredKey | DownloadedImage | ImageDownloadFailed
"""An archived image; one that was fetched but not archived; or the reason why there is none."""


class ImageViewer:
    """Fetches images for viewers."""

    def __init__(self, tools: ImageTools) -> None:
        self._tools = tools
        self._running: dict[tuple[int, str], asyncio.Task[ViewedImage]] = {}
        self._running_of: Counter[int] = Counter()
        self._failures: dict[tuple[int, str], tuple[datetime, ImageDownloadFailed]] = {}

    async def aclose(self) -> None:
        """Cancels the fetches that still run."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def view(self, user_id: int, entry_id: int, url: str, wait: timedelta = WAIT) -> ViewedImage | None:
        """The image of an entry; None if it has to wait. `NotFound` if the user may not see the entry."""
        policy = (await visible_entries(self._tools.db, user_id, [entry_id])).get(entry_id)
        if policy is None:
            raise NotFound(Message("error.no_such_entry"))
        archives = policy == ArchivePolicy.ALL or (
            policy == ArchivePolicy.STARRED and bool((await find_entry(self._tools.db, user_id, entry_id)).starred_at)
        )
        task = self._task(user_id, entry_id, url, archives)
        if task is None:
            return None
        # Not wait_for: a viewer who leaves must not cancel the fetch of the others.
        done, _ = await asyncio.wait({task}, timeout=wait.total_seconds())
        viewed = task.result() if done else None
        return None if isinstance(viewed, ImageDownloadFailed) and viewed.reason.code in PASSING_REASONS else viewed

    def _task(self, user_id: int, entry_id: int, url: str, archives: bool) -> asyncio.Task[ViewedImage] | None:
        """The fetch of this image that runs, or a new one; None if too many run."""
        name = (entry_id, url)
        if name in self._running:
            return self._running[name]
        if len(self._running) >= MAX_RUNNING or self._running_of[user_id] >= MAX_RUNNING_PER_USER:
            return None
        self._running_of[user_id] += 1
        task = self._running[name] = asyncio.create_task(self._fetch(entry_id, url, archives))
        task.add_done_callback(lambda ended: self._ended(user_id, name, ended))
        return task

    def _ended(self, user_id: int, name: tuple[int, str], task: asyncio.Task[ViewedImage]) -> None:
        self._running.pop(name, None)
        self._running_of -= Counter([user_id])
        if not task.cancelled() and (error := task.exception()) is not None:
            log.warning("image_view_failed", entry_id=name[0], url=name[1], error=str(error))

    async def _fetch(self, entry_id: int, url: str, archives: bool) -> ViewedImage:
        tools = self._tools
        for _ in range(MAX_LOOKS):
            image = await self._when_free(entry_id, url)
            if image is None and archives:
                image = await self._add(entry_id, url)
            if image is None:
                return await self._fetch_only(entry_id, url)
            if image.status == ImageStatus.SUCCESS and image.object_key:
                return StoredKey(image.object_key)
            if image.status == ImageStatus.FAILED or image.failed_lately(now := tools.clock()):
                return ImageDownloadFailed(image.last_error or NO_TURN, None)
            if not await tools.storage_limit.allows(1):
                return await self._fetch_only(entry_id, url)
            if task := await take_image_task_now(tools.db, image.id, now):
                return await self._archive(task)
        return ImageDownloadFailed(NO_TURN, None)

    async def _archive(self, task: ImageTask) -> ViewedImage:
        tools = self._tools
        try:
            fetched = await fetch_image(tools, task)
            await keep_image(tools, task, fetched)
        except asyncio.CancelledError:
            await asyncio.shield(release_image_tasks(tools.db, task.token))
            raise
        except InfrastructureError:
            log.warning("viewed_image_not_stored", url=task.url, exc_info=True)
        return fetched

    async def _fetch_only(self, entry_id: int, url: str) -> ViewedImage:
        """Fetches the image without storing it. A failure is remembered, so that not every viewer repeats it."""
        name, now = (entry_id, url), self._tools.clock()
        until, failure = self._failures.get(name, (now, None))
        if failure is not None and now < until:
            return failure
        task = await unrecorded_image_task(self._tools.db, entry_id, url)
        if task is None:
            return ImageDownloadFailed(Message("error.no_such_entry"), None)
        fetched = await fetch_image(self._tools, task)
        if isinstance(fetched, ImageDownloadFailed) and fetched.counted:
            self._remember(name, fetched)
        return fetched

    def _remember(self, name: tuple[int, str], failure: ImageDownloadFailed) -> None:
        self._failures.pop(name, None)
        if len(self._failures) >= MAX_FAILURES:
            del self._failures[next(iter(self._failures))]
        self._failures[name] = (self._tools.clock() + FAILURE_KEPT, failure)

    async def _add(self, entry_id: int, url: str) -> EntryImageState | None:
        task = await unrecorded_image_task(self._tools.db, entry_id, url)
        if task is not None:
            await add_extra_image(self._tools.db, task.feed_id, entry_id, url, self._tools.clock())
        return await entry_image(self._tools.db, entry_id, url)

    async def _when_free(self, entry_id: int, url: str) -> EntryImageState | None:
        """The image, once no other process fetches it; after a while, as it is."""
        image = await entry_image(self._tools.db, entry_id, url)
        waited = timedelta()
        while image is not None and image.is_claimed(self._tools.clock()) and waited < LEASE_WAIT:
            await asyncio.sleep(LOOK_EVERY.total_seconds())
            waited += LOOK_EVERY
            image = await entry_image(self._tools.db, entry_id, url)
        return image
