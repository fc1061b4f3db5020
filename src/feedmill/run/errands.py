"""Errands: what people asked to have sent or fetched besides feeds, worked off by any process that runs this."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

import structlog

from feedmill.app import App
from feedmill.errors import InfrastructureError
from feedmill.library.bookmarks import Bookmarks
from feedmill.library.icons import Icons
from feedmill.library.webhooks import Webhooks
from feedmill.library.whole_articles import WholeArticles

log = structlog.get_logger(__name__)

LOOK_EVERY = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Errands:
    """Any number of processes may run errands: each is taken by one of them."""

    webhooks: Webhooks
    bookmarks: Bookmarks
    whole_articles: WholeArticles
    icons: Icons
    every: timedelta = LOOK_EVERY

    async def keep_running(self) -> None:
        """Works off what is due, again and again; cancel it to stop."""
        async with asyncio.TaskGroup() as loops:
            loops.create_task(self._work_off("deliveries of webhooks", self.webhooks.deliver))
            loops.create_task(self._work_off("pages of bookmarks", self.bookmarks.read_pages))
            loops.create_task(self._work_off("whole articles", self.whole_articles.fetch))
            loops.create_task(self._work_off("icons of feeds", self.icons.fetch))

    async def _work_off(self, what: str, work: Callable[[], Awaitable[int]]) -> None:
        while True:
            if not await _some(what, work):
                await asyncio.sleep(self.every.total_seconds())


def errands_of(app: App) -> Errands:
    """The errands of a whole installation."""
    return Errands(app.webhooks, app.bookmarks, app.whole_articles, app.icons)


async def _some(what: str, work: Callable[[], Awaitable[int]]) -> int:
    """One lot; none when that failed, so that what fails is not tried without a pause."""
    try:
        return await work()
    except InfrastructureError as error:
        log.warning("errands wait; they are tried again", what=what, reason=str(error))
    except Exception:  # Whatever it is, the others must not wait for ever because of it.
        log.exception("errands wait; they are tried again", what=what)
    return 0
