"""The dependencies of work on pools: database, texts, Redis lists, clock, counters."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from feedmill.coordination.fallback import CoordinationCircuitBreaker
from feedmill.coordination.locks import Locks
from feedmill.coordination.pool_queues import PoolQueues
from feedmill.model.pool import PoolFailure, PoolKey
from feedmill.pools.item_texts import ItemTexts
from feedmill.store.database import Database

# Seconds before Redis is tried again after it did not answer.
REDIS_RETRY_SECONDS = 1.0


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
