"""A purge in a process of its own that kills itself before one of its steps."""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from feedmill.archive.files import FolderBlobs
from feedmill.archive.orphans import record_orphans
from feedmill.archive.purge import RetentionPeriods, delete_garbage, purge
from feedmill.store.drivers.sqlite import SqliteDatabase


class KillBeforeStep:
    """Counts steps and kills the process before the given one."""

    def __init__(self, step: int) -> None:
        self._left = step

    def wrap(self, step: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def counted(*args: Any) -> Any:
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            self._left -= 1
            return await step(*args)

        return counted


async def main(folder: Path, now: datetime, step: int) -> None:
    db, blobs, killer = SqliteDatabase(folder / "feedmill.db"), FolderBlobs(folder / "objects"), KillBeforeStep(step)
    db.batch = killer.wrap(db.batch)  # type: ignore[method-assign]
    blobs.delete_many = killer.wrap(blobs.delete_many)  # type: ignore[method-assign]
    await purge(db, blobs, RetentionPeriods(), now)
    await record_orphans(db, blobs, RetentionPeriods().raw, now)
    await delete_garbage(db, blobs)
    await db.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), datetime.fromisoformat(sys.argv[2]), int(sys.argv[3])))
