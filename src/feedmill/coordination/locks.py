"""PORT: locks that expire. A hint that avoids double work; the claims in the database decide."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

LOCK_LENGTH = timedelta(seconds=180)


class Locks(Protocol):
    """Named locks. The owner is a job id; nobody but the owner renews or releases a lock."""

    async def lock(self, name: str, owner: str, length: timedelta = LOCK_LENGTH) -> bool:
        """Takes the lock; False when it is held, even by the same owner."""

    async def renew(self, name: str, owner: str, length: timedelta = LOCK_LENGTH) -> bool:
        """Extends the lock to `length` from now; False when it is no longer the owner's."""

    async def release(self, name: str, owner: str) -> bool:
        """Releases the lock; False when it was no longer the owner's."""

    async def holder(self, name: str) -> str | None:
        """The owner of the lock; None when it is free."""


class BulkLocks(Protocol):
    """Locks of many feeds at once, for other programs to see: they exclude nobody here."""

    async def hold(self, names: Sequence[str], owner: str, length: timedelta = LOCK_LENGTH) -> None:
        """Takes or extends, to `length` from now, the locks that are free or the owner's."""

    async def release_all(self, names: Sequence[str], owner: str) -> None:
        """Releases the locks that are the owner's."""


def feed_lock(feed_id: int) -> str:
    """The lock of a job that refreshes the feed."""
    return f"tasklock:feed:{feed_id}"


def schedule_lock(feed_id: int) -> str:
    """The lock of a process that puts the feed's next job on a queue."""
    return f"tasklock:schedule:{feed_id}"
