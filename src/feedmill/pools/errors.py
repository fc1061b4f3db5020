"""Errors of pools."""

from feedmill.errors import Conflict, InfrastructureError, NotFound


class PoolEmpty(NotFound):
    """There is nothing to hand out now."""

    code = "pool_empty"


class PoolPaused(Conflict):
    """A person has the group rest."""

    code = "pool_paused"


class WrongGuarantee(Conflict):
    """The pool hands out in another way: pop belongs to at most once, lease to leases."""

    code = "wrong_guarantee"


class NoPoolLists(Conflict):
    """What was asked for needs the pools' lists, and there is no Redis."""

    code = "no_redis"


class ItemsNotMarkedUsed(InfrastructureError):
    """Items were handed out and could not be marked as used; `ids` says which."""

    def __init__(self, ids: list[int]) -> None:
        super().__init__(f"{len(ids)} items were handed out and could not be marked as used, first {ids[:5]}")
        self.ids = ids
