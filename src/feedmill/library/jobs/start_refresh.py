"""Starts a refresh of one, some or all of a user's feeds as a batch, and says what was skipped."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import Literal

from feedmill.i18n.messages import Message
from feedmill.library.jobs.job_port import JobPort
from feedmill.library.subscriptions.subscribe import SubscribeResult
from feedmill.model.batch import REFRESH_ALL, REFRESH_ONE
from feedmill.model.subscription import Subscription
from feedmill.store.database import Database
from feedmill.store.feeds.claims import ALREADY_RUNNING
from feedmill.store.jobs.batches import outcomes_since

RefreshStatus = Literal["queued", "already_running", "skipped"]


@dataclass(frozen=True, slots=True)
class StartedRefresh:
    """How many of the feeds are queued, were being fetched already, are paused, or were fetched a moment ago."""

    job_id: int
    queued: int
    already_running: int
    paused: int
    too_soon: int

    @property
    def status(self) -> RefreshStatus:
        """What happens to the feeds, in one word."""
        if self.queued:
            return "queued"
        return "already_running" if self.already_running else "skipped"


async def refresh_one(work: JobPort, db: Database, user_id: int, subscription: Subscription) -> StartedRefresh:
    return await _refresh(work, db, user_id, [subscription], REFRESH_ONE, f"feed-{subscription.feed_id}")


async def start_first_fetches(work: JobPort, user_id: int, added: Sequence[SubscribeResult]) -> int | None:
    """Starts what new subscriptions need: the images of feeds that were fetched, and a job that fetches the others."""
    if any(each.is_fetched for each in added):
        await work.archive_images()
    waiting = [each.subscription for each in added if not each.is_fetched and not each.subscription.paused]
    if not waiting:
        return None
    ids = [subscription.feed_id for subscription in waiting]
    job_id, _ = await work.refresh(REFRESH_ONE, ids, user_id, f"feed-{ids[0]}")
    return job_id


async def refresh_many(
    work: JobPort, db: Database, user_id: int, chosen: Sequence[Subscription], folder_id: int | None
) -> StartedRefresh:
    about = "" if folder_id is None else f"folder-{folder_id}"
    return await _refresh(work, db, user_id, chosen, REFRESH_ALL, about)


async def refresh_selected(work: JobPort, db: Database, user_id: int, chosen: Sequence[Subscription]) -> StartedRefresh:
    """Refreshes the chosen feeds; the same choice again joins the running job."""
    ids = ",".join(str(each.id) for each in chosen)
    return await _refresh(work, db, user_id, chosen, REFRESH_ALL, f"chosen-{sha256(ids.encode()).hexdigest()[:32]}")


async def wait_for_refresh(work: JobPort, job_id: int, patience: timedelta) -> Message | None:
    """Waits until the job has ended, for as long as `patience`; why a feed could not be fetched, if one could not."""
    with suppress(TimeoutError):
        async with asyncio.timeout(patience.total_seconds()), aclosing(work.watch(job_id)) as progress:
            async for step in progress:
                for outcome in step.ended:
                    if outcome.outcome == "failed":
                        return outcome.message
    return None


async def _refresh(
    work: JobPort, db: Database, user_id: int, chosen: Sequence[Subscription], kind: str, about: str
) -> StartedRefresh:
    feed_ids = [subscription.feed_id for subscription in chosen if not subscription.paused]
    paused = len(chosen) - len(feed_ids)
    job_id, is_new = await work.refresh(kind, feed_ids, user_id, about)
    if not is_new:
        return StartedRefresh(job_id, 0, len(feed_ids), paused, 0)
    # Feeds that cannot be fetched now already have their outcome.
    ended = [outcome for _, outcome in await outcomes_since(db, job_id, "")]
    skipped = [outcome for outcome in ended if outcome.outcome == "skipped"]
    running = sum(outcome.message == ALREADY_RUNNING for outcome in skipped)
    return StartedRefresh(job_id, len(feed_ids) - len(skipped), running, paused, len(skipped) - running)
