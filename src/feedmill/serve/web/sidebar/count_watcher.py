"""Notices when the unread counts of users with an open page change.

A few queries answer for all users of a process together: every two seconds whether there are new entries, and who
subscribes to their feeds; every ten seconds whose number of unread entries differs, which finds what other processes
and programs marked.
"""

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from feedmill.errors import InfrastructureError
from feedmill.library.entries.unread_counts import readers_of_new_entries, unread_sums_of_users
from feedmill.store.database import Database

TICK_SECONDS = 2.0
SUMS_EVERY = 5
# No entry has this id.
NEVER = 2**53


class CountWatcher:
    """The users of this process whose pages wait for changes; with `tick_seconds` None only `check` looks for them."""

    def __init__(self, db: Database, tick_seconds: float | None = TICK_SECONDS) -> None:
        self._db, self._tick_seconds = db, tick_seconds
        self._waiting: dict[int, set[asyncio.Event]] = {}
        self._newest: int | None = None
        self._sums: dict[int, int] = {}
        self._task: asyncio.Task[None] | None = None

    @contextmanager
    def listen(self, user_id: int) -> Iterator[asyncio.Event]:
        """An event that is set when the counts of the user may have changed."""
        event = asyncio.Event()
        self._waiting.setdefault(user_id, set()).add(event)
        if self._task is None and self._tick_seconds is not None:
            self._task = asyncio.create_task(self._run(self._tick_seconds))
        try:
            yield event
        finally:
            self._waiting[user_id].discard(event)
            if not self._waiting[user_id]:
                del self._waiting[user_id]

    def notify(self, user_ids: Iterable[int]) -> None:
        for user_id in user_ids:
            for event in self._waiting.get(user_id, ()):
                event.set()

    async def check(self, with_sums: bool = True) -> None:
        """Looks for changes since the last time, and notifies those whom they concern."""
        users = list(self._waiting)
        after = NEVER if self._newest is None else self._newest
        self._newest, readers = await readers_of_new_entries(self._db, after, users)
        self.notify(readers)
        if with_sums:
            sums = await unread_sums_of_users(self._db, users)
            self.notify([id for id, n in sums.items() if self._sums.get(id, n) != n])
            self._sums = sums

    async def _run(self, tick_seconds: float) -> None:
        """Runs while somebody waits. While the database is away nothing changes that could be shown."""
        ticks = 0
        try:
            while self._waiting:
                with suppress(InfrastructureError):
                    await self.check(with_sums=ticks % SUMS_EVERY == 0)
                ticks += 1
                await asyncio.sleep(tick_seconds)
        finally:
            self._task, self._newest, self._sums = None, None, {}
