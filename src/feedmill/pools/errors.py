"""Errors of pools."""

from feedmill.errors import Conflict, InfrastructureError, NotFound
from feedmill.i18n.messages import Message


class PoolEmpty(NotFound):
    """The pool has no item to hand out now."""

    code = "pool_empty"


class PoolFull(Conflict):
    """The pool has so many available items that it takes no further texts of programs."""

    code = "pool_full"


class PoolPaused(Conflict):
    """The group is paused."""

    code = "pool_paused"


class WrongGuarantee(Conflict):
    """The pool has the other guarantee: `pop` needs at most once, `lease` needs leases."""

    code = "wrong_guarantee"


class NoPoolLists(Conflict):
    """The call needs the Redis lists of pools, and there is no Redis."""

    code = "no_redis"


class ItemsNotMarkedUsed(InfrastructureError):
    """Items were handed out and could not be marked as used; `ids` are theirs."""

    def __init__(self, ids: list[int]) -> None:
        super().__init__(Message("error.not_marked_used", count=len(ids), first=str(ids[:5])))
        self.ids = ids
