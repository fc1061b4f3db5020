"""Chores: what is done once a day or once a week, by whichever process comes first."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

import structlog

from feedmill.app import App
from feedmill.archive.cards import mend_cards
from feedmill.archive.ownership import ForeignStore, own_store
from feedmill.archive.retention import delete_garbage, purge, read_keeping
from feedmill.archive.sweep import sweep
from feedmill.engine.looping import again_and_again
from feedmill.errors import InfrastructureError
from feedmill.store.chores import set_chore, take_chore
from feedmill.store.database import Database
from feedmill.store.search_missing import index_missing
from feedmill.store.states import expire_later
from feedmill.store.undo import empty_retired_lists

log = structlog.get_logger(__name__)

LOOK_EVERY = timedelta(minutes=10)
# A chore whose process was killed is begun again after this; one that takes longer may be done by two at once,
# which does no harm.
LEASE = timedelta(hours=2)
AFTER_FAILURE = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Chore:
    """Something to do every so often. `work` says what it did, for the log; it can be run twice at once."""

    name: str
    every: timedelta
    work: Callable[[datetime], Awaitable[dict[str, int]]]


@dataclass(frozen=True, slots=True)
class Chores:
    db: Database
    chores: Sequence[Chore]
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    async def keep_running(self) -> None:
        """Does what is due, again and again; cancel it to stop."""
        await again_and_again("chores", self.run_due, LOOK_EVERY)

    async def run_due(self) -> list[str]:
        """Does each chore that is due and that nobody else does; the names of those that were done."""
        return [chore.name for chore in self.chores if await self._run_safely(chore)]

    async def _run_safely(self, chore: Chore) -> bool:
        try:
            return await self._run(chore)
        except InfrastructureError as error:
            log.error("a chore could not be begun or ended; it is tried again", chore=chore.name, reason=str(error))
            return False

    async def _run(self, chore: Chore) -> bool:
        now = self.clock()
        until = await take_chore(self.db, chore.name, now, LEASE)
        if until is None:
            return False
        try:
            done = await chore.work(now)
        except Exception as error:  # Whatever it is, the other chores are done, and this one is tried again.
            expected = isinstance(error, InfrastructureError | ForeignStore)
            tell = log.error if expected else log.exception
            tell("a chore failed; it is tried again in an hour", chore=chore.name, reason=str(error))
            await set_chore(self.db, chore.name, until, now + AFTER_FAILURE)
            return False
        log.info("a chore is done", chore=chore.name, **done)
        await set_chore(self.db, chore.name, until, now + chore.every)
        return True


def chores_of(app: App) -> Chores:
    """The chores of a whole installation."""
    db, blobs, keeping = app.db, app.blobs, read_keeping(app.settings)

    async def cards(now: datetime) -> dict[str, int]:
        await own_store(db, blobs)
        return {"written": await mend_cards(db, blobs, now)}

    async def drop_old(now: datetime) -> dict[str, int]:
        await own_store(db, blobs)
        return asdict(await purge(db, blobs, keeping, now))

    async def drop_orphans(now: datetime) -> dict[str, int]:
        return {"orphans": await sweep(db, blobs, keeping.raw, now), "objects": await delete_garbage(db, blobs)}

    async def index(now: datetime) -> dict[str, int]:
        return {"indexed": await index_missing(db)}

    async def forget_deliveries(now: datetime) -> dict[str, int]:
        return {"forgotten": await app.webhooks.prune(now)}

    async def end_marks(now: datetime) -> dict[str, int]:
        return {"later": await expire_later(db, now), "lists": await empty_retired_lists(db, now)}

    hour, day = timedelta(hours=1), timedelta(days=1)
    return Chores(
        db,
        [
            Chore("cards", hour, cards),
            Chore("marks", hour, end_marks),
            Chore("purge", day, drop_old),
            Chore("deliveries", day, forget_deliveries),
            Chore("search", day, index),
            Chore("sweep", 7 * day, drop_orphans),
        ],
    )
