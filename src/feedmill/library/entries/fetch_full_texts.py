"""Fetches the full texts of new entries in the background, some at a time.

claim → fetch the page → extract the article by the selectors of each subscriber → store → complete
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from feedmill.engine.leased_tasks import run_leased_tasks
from feedmill.lazy_loggers import get_logger
from feedmill.library.entries.full_text import LIMITS, NoFullText, extract_full_text
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.fetch_outcome import Deferred, FetchOutcome, Response, Retryable, Throttled
from feedmill.outbound.client import Client
from feedmill.store.database import Database
from feedmill.store.entries.full_texts import (
    FullTextTask,
    finish_full_text_task,
    postpone_full_text_task,
    release_full_text_tasks,
    save_full_texts,
    take_full_text_tasks,
)
from feedmill.store.subscriptions.feed_settings import settings_of_subscribers

log = get_logger(__name__)

TASKS_AT_ONCE = 20
SOFT_LIMIT = timedelta(seconds=80)
PAUSES = (timedelta(minutes=5), timedelta(hours=1))


@dataclass(frozen=True, slots=True)
class FullTextFetcher:
    """Fetches the full texts that are queued."""

    db: Database
    client: Client
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    soft_limit: timedelta = SOFT_LIMIT

    async def fetch(self) -> int:
        """Fetches some of the queued full texts; how many there were."""
        token, taken = await take_full_text_tasks(self.db, self.clock(), most=TASKS_AT_ONCE)
        if not taken:
            return 0
        work = [self._fetch(task, token) for task in taken]
        await run_leased_tasks(work, self.soft_limit, lambda: release_full_text_tasks(self.db, token, self.clock()))
        return len(taken)

    async def _fetch(self, task: FullTextTask, token: str) -> None:
        ways = [one.settings for one in await settings_of_subscribers(self.db, task.feed_id) if one.settings.full_text]
        if ways and task.link:
            outcome = await self.client.get(task.link, limits=LIMITS)
            if (again_at := retry_at(outcome, task.attempts + 1, self.clock())) is not None:
                counted = not isinstance(outcome, Deferred)
                await postpone_full_text_task(self.db, task.entry_id, token, again_at, counted=counted)
                return
            if isinstance(outcome, Response):
                found = await asyncio.to_thread(_extract_full_texts, outcome, ways, task.entry_id)
                await save_full_texts(self.db, task.entry_id, outcome.final_url, found, self.clock())
        await finish_full_text_task(self.db, task.entry_id, token)


def _extract_full_texts(page: Response, ways: Sequence[FeedSettings], entry_id: int) -> dict[str, str]:
    """The extracted articles by the digest of their selectors; selectors that find none are left out."""
    found: dict[str, str] = {}
    for digest, way in {way.selector_digest: way for way in ways}.items():
        try:
            found[digest] = extract_full_text(page, way)
        except NoFullText as error:
            log.info("full_text_not_found", entry_id=entry_id, reason=str(error))
    return found


def retry_at(outcome: FetchOutcome, tries: int, now: datetime) -> datetime | None:
    """When a failed page is fetched again; None if it succeeded, or is given up."""
    again_at = now + PAUSES[tries - 1] if tries <= len(PAUSES) else None
    match outcome:
        case Deferred(until=until):
            return until
        case Throttled(until=until):
            return again_at and max(until, again_at)
        case Retryable():
            return again_at
    return None
