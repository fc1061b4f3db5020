"""The processes that use the database, so that a migration can wait until they have stopped.

Each server, worker and scheduler has a row in `locks` from its start to its end. A migration records first that it
has begun. The others read that every few seconds (`run/schema_watch.py`) and stop. The row of a process that was killed
stays behind: after `STOP_TIME` a migration takes it for dead, since a living one would have stopped. Without a
migration the next process that starts deletes rows that were not renewed for an hour.
"""

import asyncio
from datetime import datetime, timedelta

from sqlalchemy import bindparam, func, select

from feedmill.lazy_loggers import get_logger
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert_new
from feedmill.store.schema import locks

log = get_logger(__name__)

PREFIX = "process:"
# A process looks every ten seconds, and has thirty to end its work.
STOP_TIME = timedelta(seconds=60)
POLL_SECONDS = 0.5
RENEW_EVERY = timedelta(minutes=10)
DEAD_AFTER = timedelta(hours=1)

_is_process = locks.c.name.startswith(PREFIX)
ADD = insert_new(locks, "name", "token", "until")
RENEW = locks.update().where(locks.c.name == bindparam("key")).values(until=bindparam("now"))
REMOVE_DEAD = locks.delete().where(_is_process, locks.c.until < bindparam("dead_since"))
REMOVE = locks.delete().where(locks.c.name == bindparam("key"))
REMOVE_ALL = locks.delete().where(_is_process)
COUNT = select(func.count().label("n")).select_from(locks).where(_is_process)


async def add_process(db: Database, name: str, now: datetime) -> None:
    """Records that a process has started, and forgets those that were killed."""
    dead = Step(REMOVE_DEAD, {"dead_since": to_iso(now - DEAD_AFTER)})
    await db.batch([dead, *_steps_to_renew(name, now)])


async def renew_process(db: Database, name: str, now: datetime) -> None:
    """Records that a process still runs, also if it was taken for dead."""
    await db.batch(_steps_to_renew(name, now))


def _steps_to_renew(name: str, now: datetime) -> list[Step]:
    key, at = PREFIX + name, to_iso(now)
    return [Step(ADD, {"name": key, "token": "running", "until": at}), Step(RENEW, {"key": key, "now": at})]


async def remove_process(db: Database, name: str) -> None:
    """Records that a process has ended."""
    await db.batch([Step(REMOVE, {"key": PREFIX + name})])


async def count_processes(db: Database) -> int:
    """How many processes have started and not ended."""
    [row] = await db.query(COUNT)
    return int(row["n"])


async def wait_until_stopped(db: Database) -> None:
    """Returns when no process is left; forgets those that are still there after `STOP_TIME`."""
    if not (running := await count_processes(db)):
        return
    log.warning("migration_waits_for_processes", processes=running, at_most_seconds=STOP_TIME.total_seconds())
    deadline = asyncio.get_running_loop().time() + STOP_TIME.total_seconds()
    # Polled, because they are other processes.
    while asyncio.get_running_loop().time() < deadline and await count_processes(db):  # noqa: ASYNC110
        await asyncio.sleep(POLL_SECONDS)
    await db.batch([Step(REMOVE_ALL)])
