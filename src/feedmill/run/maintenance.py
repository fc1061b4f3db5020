"""Maintenance tasks that run hourly, daily or weekly, each in one process at a time."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

from feedmill.app import App
from feedmill.archive.feed_descriptors import repair_descriptors
from feedmill.archive.orphans import record_orphans
from feedmill.archive.purge import delete_garbage, purge, retention_periods
from feedmill.archive.store_ownership import StoreOwnedByAnother, ensure_store_ownership
from feedmill.engine.run_periodically import run_periodically
from feedmill.errors import InfrastructureError
from feedmill.lazy_loggers import get_logger
from feedmill.library.stories.join_stored_entries import join_stored_entries, prune_index
from feedmill.store.admin.maintenance_tasks import INDEX_ENTRIES, schedule_maintenance_task, take_maintenance_task
from feedmill.store.database import Database
from feedmill.store.entries.drop_unused_unread_lists import drop_retired_lists
from feedmill.store.entries.marks import expire_read_later
from feedmill.store.feeds.fetch_log_days import add_log_days
from feedmill.store.filters.filters import purge_deleted_filters
from feedmill.store.search.index_missing_entries import index_missing_entries

log = get_logger(__name__)

CHECK_EVERY = timedelta(minutes=10)
# A task whose process was killed starts again after this; one that takes longer may run twice at once, which is
# harmless.
LEASE = timedelta(hours=2)
RETRY_DELAY = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class MaintenanceTask:
    """A periodic task. `work` returns counts for the log; two runs at once are harmless."""

    name: str
    every: timedelta
    work: Callable[[datetime], Awaitable[dict[str, int]]]


@dataclass(frozen=True, slots=True)
class Maintenance:
    db: Database
    tasks: Sequence[MaintenanceTask]
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    async def keep_running(self) -> None:
        """Runs due tasks periodically; cancel it to stop."""
        await run_periodically("maintenance", self.run_due, CHECK_EVERY)

    async def run_due(self) -> list[str]:
        """Runs each due task that no other process runs; returns the names of those that ran."""
        return [task.name for task in self.tasks if await self._run_safely(task)]

    async def _run_safely(self, task: MaintenanceTask) -> bool:
        try:
            return await self._run(task)
        except InfrastructureError as error:
            log.error("maintenance_task_postponed", task=task.name, reason=str(error))
            return False

    async def _run(self, task: MaintenanceTask) -> bool:
        now = self.clock()
        until = await take_maintenance_task(self.db, task.name, now, LEASE, task.every)
        if until is None:
            return False
        try:
            done = await task.work(now)
        except Exception as error:  # The other tasks must run, and this one is retried.
            expected = isinstance(error, InfrastructureError | StoreOwnedByAnother)
            log.error("maintenance_task_failed", task=task.name, reason=str(error), exc_info=not expected)
            await schedule_maintenance_task(self.db, task.name, until, now + RETRY_DELAY)
            return False
        log.info("maintenance_task_finished", task=task.name, **done)
        await schedule_maintenance_task(self.db, task.name, until, now + task.every)
        return True


def make_maintenance(app: App) -> Maintenance:
    """The maintenance tasks of an installation."""
    db, blobs, periods = app.db, app.blobs, retention_periods(app.settings)

    async def write_descriptors(now: datetime) -> dict[str, int]:
        await ensure_store_ownership(db, blobs)
        return {"descriptors_written": await repair_descriptors(db, blobs, now)}

    async def purge_expired(now: datetime) -> dict[str, int]:
        await ensure_store_ownership(db, blobs)
        return asdict(await purge(db, blobs, periods, now))

    async def delete_orphans(now: datetime) -> dict[str, int]:
        return {
            "orphans_found": await record_orphans(db, blobs, periods.raw, now),
            "objects_deleted": await delete_garbage(db, blobs),
        }

    async def index_entries(now: datetime) -> dict[str, int]:
        return {"entries_indexed": await index_missing_entries(db)}

    async def prune_deliveries(now: datetime) -> dict[str, int]:
        await app.push_user.prune(now)
        return {"deliveries_deleted": await app.webhooks.prune(now)}

    async def expire_marks(now: datetime) -> dict[str, int]:
        return {
            "read_later_expired": await expire_read_later(db, now),
            "lists_deleted": await drop_retired_lists(db, now - periods.lists),
        }

    async def join_stories(now: datetime) -> dict[str, int]:
        return await join_stored_entries(db, now)

    async def prune_stories(now: datetime) -> dict[str, int]:
        return {"entries_dropped": await prune_index(db, now)}

    async def purge_filters(now: datetime) -> dict[str, int]:
        return {"filters_deleted": await purge_deleted_filters(db, now)}

    async def add_partitions(now: datetime) -> dict[str, int]:
        return {"days_added": await add_log_days(db, now)}

    hour, day = timedelta(hours=1), timedelta(days=1)
    return Maintenance(
        db,
        [
            MaintenanceTask("join_stories", CHECK_EVERY, join_stories),
            MaintenanceTask("add_log_days", day, add_partitions),
            MaintenanceTask("expire_marks", hour, expire_marks),
            MaintenanceTask("write_descriptors", day, write_descriptors),
            MaintenanceTask("purge", day, purge_expired),
            MaintenanceTask("prune_deliveries", day, prune_deliveries),
            MaintenanceTask("purge_filters", day, purge_filters),
            MaintenanceTask("prune_stories", day, prune_stories),
            MaintenanceTask(INDEX_ENTRIES, day, index_entries),
            MaintenanceTask("delete_orphans", 7 * day, delete_orphans),
        ],
        app.tools.clock,
    )
