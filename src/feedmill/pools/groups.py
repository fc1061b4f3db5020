"""The groups there are, remembered for some seconds, because every refresh and every pop asks for them."""

import time
from collections.abc import Callable, Sequence

from feedmill.model.pool import Group
from feedmill.store.database import Database
from feedmill.store.pool_groups import UnknownGroup, all_groups

REMEMBER = 5.0


class KnownGroups:
    """Another process sees a new, changed or paused group at most `remember` seconds later."""

    def __init__(self, db: Database, clock: Callable[[], float] = time.monotonic, remember: float = REMEMBER) -> None:
        self._db = db
        self._clock = clock
        self._remember = remember
        self._groups: list[Group] = []
        self._read_at: float | None = None

    async def current(self) -> Sequence[Group]:
        """The groups, as they were some seconds ago at the earliest."""
        if self._read_at is None or self._clock() >= self._read_at + self._remember:
            await self.read()
        return self._groups

    async def read(self) -> Sequence[Group]:
        """The groups as they are now."""
        self._read_at = self._clock()
        self._groups = await all_groups(self._db)
        return self._groups

    async def named(self, name: str | int) -> Group:
        """The group of that name or id; raises `UnknownGroup`."""
        found = _find(await self.current(), name) or _find(await self.read(), name)
        if found is None:
            raise UnknownGroup(f"there is no pool group {name}: 'feedmill pool list' lists those there are")
        return found


def _find(groups: Sequence[Group], name: str | int) -> Group | None:
    """A name goes before an id."""
    by_name = (group for group in groups if group.name == name)
    by_id = (group for group in groups if str(group.id) == str(name))
    return next(by_name, None) or next(by_id, None)
