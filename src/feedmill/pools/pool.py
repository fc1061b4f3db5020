"""A pool of a group: its key, its options, the name of its list."""

from dataclasses import dataclass

from feedmill.coordination.pool_queues import pool_list_name
from feedmill.model.pool import PoolGroup, PoolKey, PoolKind, PoolOptions

# The most items per call; the database claims them in one statement.
MAX_ITEMS_AT_ONCE = 1000
# The prefix of a filler's name where the owner of a reservation is stored.
FILLER = "filler"


@dataclass(frozen=True, slots=True)
class Pool:
    """One pool of a group."""

    group: PoolGroup
    kind: PoolKind

    @property
    def key(self) -> PoolKey:
        return PoolKey(self.group.id, self.kind)

    @property
    def options(self) -> PoolOptions:
        return self.group.options(self.kind)

    @property
    def list_name(self) -> str:
        return pool_list_name(self.kind, self.group.id)

    def __str__(self) -> str:
        return f"{self.kind} of {self.group.name}"
