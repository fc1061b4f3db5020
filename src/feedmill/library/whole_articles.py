"""Whole articles of new entries, for feeds whose subscribers want them: fetched in the background, a lot at a time.

take → fetch the page → cut the article out, in each way that a subscriber wants → keep → settle
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog

from feedmill.engine.side_by_side import all_of
from feedmill.library.full_text import LIMITS, NoFullText, cut_out
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.outcome import Deferred, Outcome, Response, Retryable, Throttled
from feedmill.outbound.client import Client
from feedmill.store.database import Database, Row
from feedmill.store.feed_settings import wanted_of
from feedmill.store.full_texts import keep_full_texts, let_go, settle, settle_missed, take_waiting

log = structlog.get_logger(__name__)

LOT = 20
SOFT_LIMIT = timedelta(seconds=80)
PAUSES = (timedelta(minutes=5), timedelta(hours=1))


@dataclass(frozen=True, slots=True)
class WholeArticles:
    """What they are fetched with."""

    db: Database
    client: Client
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    soft_limit: timedelta = SOFT_LIMIT

    async def fetch(self) -> int:
        """Fetches a lot of those that wait; how many there were."""
        token, lot = await take_waiting(self.db, self.clock(), most=LOT)
        if not lot:
            return 0
        try:
            async with asyncio.timeout(self.soft_limit.total_seconds()):
                await all_of([self._fetch(row, token) for row in lot])
        except TimeoutError:
            pass  # what was not reached waits for the next lot
        finally:
            await asyncio.shield(let_go(self.db, token, self.clock()))
        return len(lot)

    async def _fetch(self, row: Row, token: str) -> None:
        ways = [one.settings for one in await wanted_of(self.db, row["feed_id"]) if one.settings.full_text]
        if ways and row["link"]:
            outcome = await self.client.get(row["link"], limits=LIMITS)
            if (again_at := next_try(outcome, row["attempts"] + 1, self.clock())) is not None:
                counted = not isinstance(outcome, Deferred)
                await settle_missed(self.db, row["entry_id"], token, again_at, counted=counted)
                return
            if isinstance(outcome, Response):
                found = await asyncio.to_thread(_cut_out, outcome, ways, row["entry_id"])
                await keep_full_texts(self.db, row["entry_id"], outcome.final_url, found, self.clock())
        await settle(self.db, row["entry_id"], token)


def _cut_out(page: Response, ways: Sequence[FeedSettings], entry_id: int) -> dict[str, str]:
    """By recipe, what each way finds; those that find nothing are left out."""
    found: dict[str, str] = {}
    for recipe, way in {way.recipe: way for way in ways}.items():
        try:
            found[recipe] = cut_out(page, way)
        except NoFullText as error:
            log.info("a new entry has no article to keep", entry_id=entry_id, reason=str(error))
    return found


def next_try(outcome: Outcome, tries: int, now: datetime) -> datetime | None:
    """When a page that did not come is asked for again; None when it came, or is given up."""
    again_at = now + PAUSES[tries - 1] if tries <= len(PAUSES) else None
    match outcome:
        case Deferred(until=until):
            return until
        case Throttled(until=until):
            return again_at and max(until, again_at)
        case Retryable():
            return again_at
    return None
