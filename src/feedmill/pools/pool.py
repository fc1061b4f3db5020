"""A pool of a group, and the dependencies of work on pools (database, lists, clock)."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from feedmill.coordination.fallback import CoordinationCircuitBreaker
from feedmill.coordination.locks import Locks
from feedmill.coordination.pool_queues import PoolQueues, pool_list_name
from feedmill.model.pool import PoolFailure, PoolGroup, PoolKey, PoolKind, PoolOptions
from feedmill.pools.item_texts import ItemTexts
from feedmill.store.database import Database

# The most items per call; the database claims them in one statement.
MAX_ITEMS_AT_ONCE = 1000
# Seconds before Redis is tried again after it did not answer.
REDIS_RETRY_SECONDS = 1.0
# The prefix of a filler's name where the owner of a reservation is stored.
FILLER = "filler"


@dataclass(frozen=True, slots=True)
class PoolLists:
    """The Redis lists, their locks, and a circuit breaker for both."""

    queues: PoolQueues
    locks: Locks
    health: CoordinationCircuitBreaker = field(
        default_factory=lambda: CoordinationCircuitBreaker(retry_after=REDIS_RETRY_SECONDS)
    )


@dataclass(frozen=True, slots=True)
class PoolTools:
    """The dependencies of work on pools. Without `lists` everything is served from the database."""

    db: Database
    texts: ItemTexts
    lists: PoolLists | None = None
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    # How many items of each pool this process took from the database because its list had none.
    fallbacks: Counter[PoolKey] = field(default_factory=Counter)
    # How many were in a list although they were used before; they are not handed out again.
    duplicates: Counter[PoolKey] = field(default_factory=Counter)
    failures: dict[PoolKey, PoolFailure] = field(default_factory=dict)


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
