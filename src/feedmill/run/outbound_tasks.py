"""Delivers webhooks and fetches bookmarked pages, full articles and icons, in loops."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from feedmill.app import App
from feedmill.dependency_outages import DEPENDENCY_OUTAGES
from feedmill.errors import InfrastructureError
from feedmill.lazy_loggers import get_logger
from feedmill.library.bookmarks.service import Bookmarks
from feedmill.library.entries.full_text_queue import FullTextFetcher
from feedmill.library.feeds.icons import IconFetcher
from feedmill.library.webhooks.service import Webhooks

log = get_logger(__name__)

CHECK_EVERY = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class OutboundTasks:
    """Any number of processes may run errands: each is taken by one of them."""

    webhooks: Webhooks
    bookmarks: Bookmarks
    whole_articles: FullTextFetcher
    icons: IconFetcher
    every: timedelta = CHECK_EVERY

    async def keep_running(self) -> None:
        """Works off what is due, again and again; cancel it to stop."""
        async with asyncio.TaskGroup() as loops:
            loops.create_task(self._work_off("deliver_webhooks", self.webhooks.deliver))
            loops.create_task(self._work_off("read_bookmarked_pages", self.bookmarks.read_pages))
            loops.create_task(self._work_off("fetch_whole_articles", self.whole_articles.fetch))
            loops.create_task(self._work_off("fetch_feed_icons", self.icons.fetch))

    async def _work_off(self, what: str, work: Callable[[], Awaitable[int]]) -> None:
        while True:
            if not await _some(what, work):
                await asyncio.sleep(self.every.total_seconds())


def make_outbound_tasks(app: App) -> OutboundTasks:
    """The errands of a whole installation."""
    return OutboundTasks(app.webhooks, app.bookmarks, app.whole_articles, app.icons)


async def _some(what: str, work: Callable[[], Awaitable[int]]) -> int:
    """One lot; none when that failed, so that what fails is not tried without a pause."""
    try:
        done = await work()
        DEPENDENCY_OUTAGES.worked(what)
        return done
    except InfrastructureError as error:
        DEPENDENCY_OUTAGES.failed(what, error)
    except Exception:  # Whatever it is, the others must not wait for ever because of it.
        log.exception("task_crashed", task=what)
    return 0
