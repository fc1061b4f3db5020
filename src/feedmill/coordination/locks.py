"""PORT: locks that expire. A hint that avoids double work; the claims in the database decide."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

LOCK_LENGTH = timedelta(seconds=180)


class Locks(Protocol):
    """Named locks. The owner is a job id; nobody but the owner renews or releases a lock."""

    async def lock(self, name: str, owner: str, length: timedelta = LOCK_LENGTH) -> bool:
        """Whether the lock is now the owner's; False when it is held, by whomever."""

    async def renew(self, name: str, owner: str, length: timedelta = LOCK_LENGTH) -> bool:
        """Makes the lock last `length` from now; False when it is not the owner's any more."""

    async def release(self, name: str, owner: str) -> bool:
        """Gives the lock back; False when it was not the owner's any more."""

    async def holder(self, name: str) -> str | None:
        """Whose the lock is; None when it is free."""


class LotLocks(Protocol):
    """The locks of many feeds at once, for other programs to see: nobody here is stopped by them."""

    async def hold(self, names: Sequence[str], owner: str, length: timedelta = LOCK_LENGTH) -> None:
        """Makes those that are free or the owner's last `length` from now."""

    async def let_go(self, names: Sequence[str], owner: str) -> None:
        """Gives back those that are the owner's."""


def feed_lock(feed_id: int) -> str:
    """The lock that a job holds while it refreshes a feed."""
    return f"tasklock:feed:{feed_id}"


def schedule_lock(feed_id: int) -> str:
    """The lock that is held while a feed's next job is being put on a queue."""
    return f"tasklock:schedule:{feed_id}"
