"""Maintenance tasks that run hourly, daily or weekly, each in one process at a time."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

from feedmill.app import App
from feedmill.archive.feed_descriptors import repair_descriptors
from feedmill.archive.orphans import record_orphans
from feedmill.archive.retention import delete_garbage, purge, retention_periods
from feedmill.archive.store_ownership import StoreOwnedByAnother, ensure_store_ownership
from feedmill.engine.periodic import run_periodically
from feedmill.errors import InfrastructureError
from feedmill.lazy_loggers import get_logger
from feedmill.store.admin.maintenance_tasks import schedule_maintenance_task, take_maintenance_task
from feedmill.store.database import Database
from feedmill.store.entries.states import expire_read_later
from feedmill.store.entries.undo_mark_all_read import empty_retired_lists
from feedmill.store.search.index_missing_entries import index_missing_entries

log = get_logger(__name__)

CHECK_EVERY = timedelta(minutes=10)
# A chore whose process was killed is begun again after this; one that takes longer may be done by two at once,
# which does no harm.
LEASE = timedelta(hours=2)
RETRY_DELAY = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class MaintenanceTask:
    """Something to do every so often. `work` says what it did, for the log; it can be run twice at once."""

    name: str
    every: timedelta
    work: Callable[[datetime], Awaitable[dict[str, int]]]


@dataclass(frozen=True, slots=True)
class Maintenance:
    db: Database
    chores: Sequence[MaintenanceTask]
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    async def keep_running(self) -> None:
        """Does what is due, again and again; cancel it to stop."""
        await run_periodically("chores", self.run_due, CHECK_EVERY)

    async def run_due(self) -> list[str]:
        """Does each chore that is due and that nobody else does; the names of those that were done."""
        return [chore.name for chore in self.chores if await self._run_safely(chore)]

    async def _run_safely(self, chore: MaintenanceTask) -> bool:
        try:
            return await self._run(chore)
        except InfrastructureError as error:
            log.error("a chore could not be begun or ended; it is tried again", chore=chore.name, reason=str(error))
            return False

    async def _run(self, chore: MaintenanceTask) -> bool:
        now = self.clock()
        until = await take_maintenance_task(self.db, chore.name, now, LEASE)
        if until is None:
            return False
        try:
            done = await chore.work(now)
        except Exception as error:  # Whatever it is, the other chores are done, and this one is tried again.
            expected = isinstance(error, InfrastructureError | StoreOwnedByAnother)
            tell = log.error if expected else log.exception
            tell("a chore failed; it is tried again in an hour", chore=chore.name, reason=str(error))
            await schedule_maintenance_task(self.db, chore.name, until, now + RETRY_DELAY)
            return False
        log.info("a chore is done", chore=chore.name, **done)
        await schedule_maintenance_task(self.db, chore.name, until, now + chore.every)
        return True


def make_maintenance(app: App) -> Maintenance:
    """The chores of a whole installation."""
    db, blobs, keeping = app.db, app.blobs, retention_periods(app.settings)

    async def cards(now: datetime) -> dict[str, int]:
        await ensure_store_ownership(db, blobs)
        return {"written": await repair_descriptors(db, blobs, now)}

    async def drop_old(now: datetime) -> dict[str, int]:
        await ensure_store_ownership(db, blobs)
        return asdict(await purge(db, blobs, keeping, now))

    async def drop_orphans(now: datetime) -> dict[str, int]:
        return {
            "orphans": await record_orphans(db, blobs, keeping.raw, now),
            "objects": await delete_garbage(db, blobs),
        }

    async def index(now: datetime) -> dict[str, int]:
        return {"indexed": await index_missing_entries(db)}

    async def forget_deliveries(now: datetime) -> dict[str, int]:
        return {"forgotten": await app.webhooks.prune(now)}

    async def end_marks(now: datetime) -> dict[str, int]:
        return {"later": await expire_read_later(db, now), "lists": await empty_retired_lists(db, now)}

    hour, day = timedelta(hours=1), timedelta(days=1)
    return Maintenance(
        db,
        [
            MaintenanceTask("marks", hour, end_marks),
            MaintenanceTask("cards", day, cards),
            MaintenanceTask("purge", day, drop_old),
            MaintenanceTask("deliveries", day, forget_deliveries),
            MaintenanceTask("search", day, index),
            MaintenanceTask("sweep", 7 * day, drop_orphans),
        ],
    )
