"""A person has some of their feeds fetched now, as a batch that can be watched."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from feedmill.model.subscription import Subscription
from feedmill.serve.work import Work
from feedmill.store.batches import REFRESH_ALL, REFRESH_ONE, outcomes_since
from feedmill.store.database import Database


@dataclass(frozen=True, slots=True)
class Started:
    """What becomes of each feed that was asked for: it is fetched, was being fetched already, or is left alone."""

    job_id: int
    queued: int
    already_running: int
    paused: int
    too_soon: int


async def refresh_one(work: Work, db: Database, user_id: int, subscription: Subscription) -> Started:
    return await _refresh(work, db, user_id, [subscription], REFRESH_ONE, f"feed-{subscription.feed_id}")


async def refresh_many(
    work: Work, db: Database, user_id: int, chosen: Sequence[Subscription], folder_id: int | None
) -> Started:
    about = "" if folder_id is None else f"folder-{folder_id}"
    return await _refresh(work, db, user_id, chosen, REFRESH_ALL, about)


async def refresh_chosen(work: Work, db: Database, user_id: int, chosen: Sequence[Subscription]) -> Started:
    """Those that somebody picked; asking for the same ones again joins the job."""
    named = ",".join(str(each.id) for each in chosen)
    return await _refresh(work, db, user_id, chosen, REFRESH_ALL, f"chosen-{sha256(named.encode()).hexdigest()[:32]}")


async def _refresh(
    work: Work, db: Database, user_id: int, chosen: Sequence[Subscription], kind: str, about: str
) -> Started:
    wanted = [subscription.feed_id for subscription in chosen if not subscription.paused]
    paused = len(chosen) - len(wanted)
    job_id, is_new = await work.refresh(kind, wanted, user_id, about)
    if not is_new:
        return Started(job_id, 0, len(wanted), paused, 0)
    # Whatever can't be fetched now has its outcome already.
    ended = [outcome for _, outcome in await outcomes_since(db, job_id, "")]
    skipped = [outcome for outcome in ended if outcome.outcome == "skipped"]
    running = sum(outcome.message == "already_running" for outcome in skipped)
    return Started(job_id, len(wanted) - len(skipped), running, paused, len(skipped) - running)
