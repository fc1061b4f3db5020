"""What pools work with, and how they refuse."""

import os
import socket
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from secrets import token_hex

from feedmill.coordination.fallback import Health
from feedmill.coordination.locks import Locks
from feedmill.coordination.queues import Queues, list_name
from feedmill.errors import Conflict, InfrastructureError, NotFound
from feedmill.model.pool import Group, Kind, PoolKey, PoolOptions, Trouble
from feedmill.pools.texts import Texts
from feedmill.store.database import Database

# A program may pop so many at once; the database is asked for them in one statement.
MOST_AT_ONCE = 1000
# How soon Redis is tried again after it did not answer.
REDIS_REST = 1.0
LONGEST_NAME = 90
# How fillers call themselves where they say who reserved an item.
FILLER = "filler"


class PoolEmpty(NotFound):
    """There is nothing to hand out now."""

    code = "pool_empty"


class PoolPaused(Conflict):
    """A person has the group rest."""

    code = "pool_paused"


class WrongGuarantee(Conflict):
    """The pool hands out in another way: pop belongs to at most once, lease to leases."""

    code = "wrong_guarantee"


class NothingToAsk(Conflict):
    """What was asked for needs the pools' lists, and there is no Redis."""

    code = "no_redis"


class Unsettled(InfrastructureError):
    """Items were handed out and could not be marked as used; `ids` says which."""

    def __init__(self, ids: list[int]) -> None:
        super().__init__(f"{len(ids)} items were handed out and could not be marked as used, first {ids[:5]}")
        self.ids = ids


@dataclass(frozen=True, slots=True)
class Lists:
    """The shared lists, and whether to ask them now."""

    queues: Queues
    locks: Locks
    health: Health = field(default_factory=lambda: Health(rest=REDIS_REST))


@dataclass(frozen=True, slots=True)
class PoolTools:
    """Without `lists` everything is served from the database."""

    db: Database
    texts: Texts
    lists: Lists | None = None
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    # How many items of each pool this process took from the database because its list had none.
    fallbacks: Counter[PoolKey] = field(default_factory=Counter)
    # How many stood in a list although they were used before; they are not handed out again.
    doubles: Counter[PoolKey] = field(default_factory=Counter)
    troubles: dict[PoolKey, Trouble] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pool:
    """One pool of a group."""

    group: Group
    kind: Kind

    @property
    def key(self) -> PoolKey:
        return PoolKey(self.group.id, self.kind)

    @property
    def options(self) -> PoolOptions:
        return self.group.options(self.kind)

    @property
    def list_name(self) -> str:
        return list_name(self.kind, self.group.id)

    def __str__(self) -> str:
        return f"{self.kind} of {self.group.name}"


def this_process() -> str:
    """Who we are when nobody said it."""
    return f"{socket.gethostname()}:{os.getpid()}"


def token_for(who: str) -> str:
    """A token that says who took something and that nobody else has."""
    plain = (who or this_process()).encode("ascii", "replace").decode()
    return f"{plain[:LONGEST_NAME]}/{token_hex(8)}"
