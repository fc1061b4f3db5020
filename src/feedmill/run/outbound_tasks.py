"""Delivers webhooks, saves articles, fetches pages, full articles and icons, tells hubs of news: each in a loop."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from feedmill.app import App
from feedmill.dependency_outages import DEPENDENCY_OUTAGES
from feedmill.errors import InfrastructureError
from feedmill.lazy_loggers import get_logger
from feedmill.library.bookmarks.service import Bookmarks
from feedmill.library.entries.fetch_full_texts import FullTextFetcher
from feedmill.library.feeds.fetch_icons import IconFetcher
from feedmill.library.hubs.subscribe_feeds import HubSubscriber
from feedmill.library.hubs.use_pushes import PushUser
from feedmill.library.notifications.service import Notifications
from feedmill.library.output_feeds.announce import FeedAnnouncer
from feedmill.library.services.service import SaveServices
from feedmill.library.webhooks.service import Webhooks

log = get_logger(__name__)

CHECK_EVERY = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class OutboundTasks:
    """Loops over the queues of outbound work. Several processes may run them: each item is taken by one."""

    webhooks: Webhooks
    bookmarks: Bookmarks
    full_texts: FullTextFetcher
    icons: IconFetcher
    services: SaveServices
    notifications: Notifications
    announcer: FeedAnnouncer
    hub_subscriber: HubSubscriber
    push_user: PushUser
    every: timedelta = CHECK_EVERY

    async def keep_running(self) -> None:
        """Runs all loops; cancel it to stop."""
        async with asyncio.TaskGroup() as loops:
            loops.create_task(self._loop("deliver_webhooks", self.webhooks.deliver))
            loops.create_task(self._loop("read_bookmarked_pages", self.bookmarks.read_pages))
            loops.create_task(self._loop("fetch_full_texts", self.full_texts.fetch))
            loops.create_task(self._loop("fetch_feed_icons", self.icons.fetch))
            loops.create_task(self._loop("save_to_services", self.services.send))
            loops.create_task(self._loop("send_notifications", self.notifications.send))
            loops.create_task(self._loop("announce_output_feeds", self.announcer.announce))
            loops.create_task(self._loop("ask_hubs", self.hub_subscriber.run))
            loops.create_task(self._loop("use_pushes", self.push_user.use))

    async def _loop(self, what: str, work: Callable[[], Awaitable[int]]) -> None:
        while True:
            if not await _run_once(what, work):
                await asyncio.sleep(self.every.total_seconds())


def make_outbound_tasks(app: App) -> OutboundTasks:
    """The outbound tasks of an installation."""
    return OutboundTasks(
        app.webhooks,
        app.bookmarks,
        app.full_texts,
        app.icons,
        app.services,
        app.notifications,
        app.announcer,
        app.hub_subscriber,
        app.push_user,
    )


async def _run_once(what: str, work: Callable[[], Awaitable[int]]) -> int:
    """Runs one chunk and returns its size; 0 when it failed, so that there is a pause before the next try."""
    try:
        done = await work()
        DEPENDENCY_OUTAGES.worked(what)
        return done
    except InfrastructureError as error:
        DEPENDENCY_OUTAGES.failed(what, error)
    except Exception:  # The loop must continue whatever happens.
        log.exception("task_crashed", task=what)
    return 0
