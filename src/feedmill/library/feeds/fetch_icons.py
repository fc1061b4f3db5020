"""Fetches the icons of feeds in the background, some at a time.

queue → claim → choose the URL → fetch → detect the image type → store
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from feedmill.archive.images.file_types import HEIC, detect_image_type
from feedmill.archive.images.request_options import ACCEPT
from feedmill.engine.leased_tasks import run_leased_tasks
from feedmill.model.fetch_options import FetchOptions
from feedmill.model.fetch_outcome import Deferred, FetchOutcome, Response, Throttled
from feedmill.model.image import DownloadedImage
from feedmill.outbound.client import Client
from feedmill.outbound.errors import RefusedError
from feedmill.outbound.fetch_limits import FetchLimits
from feedmill.outbound.urls import RequestTarget, parse_url
from feedmill.store.database import Database
from feedmill.store.feeds.icons import (
    IconFailure,
    IconTask,
    add_icon_tasks,
    record_missing_icons,
    release_icon_tasks,
    save_icon,
    take_icon_tasks,
)

TASKS_AT_ONCE = 20
SOFT_LIMIT = timedelta(seconds=80)
# The search for feeds without an icon reads all feeds.
ENROL_EVERY, ENROL_MOST = timedelta(minutes=5), 1000
FRESH = timedelta(days=30)
PAUSES = (timedelta(days=1), timedelta(days=7), timedelta(days=30))
LARGEST = 64_000
# Shorter timeouts than for what a user asked for.
LIMITS = FetchLimits(max_bytes=LARGEST, read=timedelta(seconds=5), total=timedelta(seconds=10))
# Without the HTTP options of the feed: only public icons are fetched.
OPTIONS = FetchOptions(headers={"Accept": ACCEPT})
BEGINNING = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True)
class IconFetcher:
    """Fetches the icons that are due."""

    db: Database
    client: Client
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    soft_limit: timedelta = SOFT_LIMIT
    enrol_at: datetime = field(init=False, default=BEGINNING)

    async def fetch(self) -> int:
        """Fetches some of the due icons; how many there were."""
        await self._enrol()
        token, taken = await take_icon_tasks(self.db, self.clock(), most=TASKS_AT_ONCE)
        if not taken:
            return 0
        work = [self._fetch(address, tasks, token) for address, tasks in group_by_url(taken).items()]
        await run_leased_tasks(work, self.soft_limit, lambda: release_icon_tasks(self.db, token, self.clock()))
        return len(taken)

    async def _enrol(self) -> None:
        now = self.clock()
        if now >= self.enrol_at:
            await add_icon_tasks(self.db, now, ENROL_MOST)
            self.enrol_at = now + ENROL_EVERY

    async def _fetch(self, address: str, tasks: Sequence[IconTask], token: str) -> None:
        """Fetches one URL for all feeds that have it."""
        outcome = await self.client.get(address, limits=LIMITS, options=OPTIONS)
        icon, now = icon_from_outcome(outcome), self.clock()
        if icon is None:
            await record_missing_icons(self.db, token, [missing_icon(outcome, task, now) for task in tasks])
        else:
            await save_icon(self.db, [task.feed_id for task in tasks], token, address, icon, now, now + FRESH)


def group_by_url(taken: Sequence[IconTask]) -> dict[str, list[IconTask]]:
    """The taken tasks by the URL of their icon."""
    found: dict[str, list[IconTask]] = {}
    for task in taken:
        found.setdefault(icon_url_of(task), []).append(task)
    return found


def icon_url_of(task: IconTask) -> str:
    """The icon URL that the feed gives, or `/favicon.ico` of its site if it gives none or that failed last time.

    A login in the URL is left out.
    """
    named, site = _target(task.icon_url), _target(task.site_url) or _target(task.url)
    at_root = replace(site, path="/favicon.ico") if site else None
    places = [place.url for place in (named, at_root) if place]
    return places[task.attempts % len(places)] if places else task.url


def _target(url: str | None) -> RequestTarget | None:
    try:
        return parse_url(url or "")
    except RefusedError:
        return None


def icon_from_outcome(outcome: FetchOutcome) -> DownloadedImage | None:
    """The image of a response, if browsers can show it."""
    if not isinstance(outcome, Response):
        return None
    type = detect_image_type(outcome.body)
    return DownloadedImage(type, outcome.body) if type and type is not HEIC else None


def missing_icon(outcome: FetchOutcome, task: IconTask, now: datetime) -> IconFailure:
    again_at = now + PAUSES[min(task.attempts, len(PAUSES) - 1)]
    match outcome:
        case Deferred(until=until):
            return IconFailure(task.feed_id, until, counted=False)
        case Throttled(until=until):
            return IconFailure(task.feed_id, max(until, again_at))
    return IconFailure(task.feed_id, again_at)
