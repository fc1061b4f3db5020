"""The pool groups, cached for a few seconds."""

import time
from collections.abc import Callable, Sequence

from feedmill.errors import UnknownGroup
from feedmill.i18n.messages import Message
from feedmill.model.pool import PoolGroup, find_pool_group
from feedmill.store.database import Database
from feedmill.store.pools.groups import all_groups

CACHE_SECONDS = 5.0


class PoolGroupCache:
    """Other processes see a new, changed or paused group at most `remember` seconds later."""

    def __init__(
        self, db: Database, clock: Callable[[], float] = time.monotonic, remember: float = CACHE_SECONDS
    ) -> None:
        self._db = db
        self._clock = clock
        self._remember = remember
        self._groups: list[PoolGroup] = []
        self._read_at: float | None = None

    async def current(self) -> Sequence[PoolGroup]:
        """The groups, at most a few seconds old."""
        if self._read_at is None or self._clock() >= self._read_at + self._remember:
            await self.read()
        return self._groups

    async def read(self) -> Sequence[PoolGroup]:
        """Reads the groups from the database."""
        self._read_at = self._clock()
        self._groups = await all_groups(self._db)
        return self._groups

    async def named(self, name: str | int) -> PoolGroup:
        """The group with that name or id; raises `UnknownGroup`."""
        found = find_pool_group(await self.current(), name) or find_pool_group(await self.read(), name)
        if found is None:
            raise unknown_group_error(name)
        return found


def unknown_group_error(name: str | int) -> UnknownGroup:
    """The error for a group that does not exist, or that the caller may not see: the message is the same."""
    return UnknownGroup(Message("error.unknown_pool_group_listed", name=name))
