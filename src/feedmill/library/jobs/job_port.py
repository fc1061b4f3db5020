"""PORT: starts batches of refreshes and watches them, in this process or in workers."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Protocol

from feedmill.model.batch import BatchProgress


class JobPort(Protocol):
    """Batches of refreshes, started here and watched from anywhere."""

    async def refresh(
        self, kind: str, feed_ids: Sequence[int], user_id: int | None = None, about: str = "", report: str | None = None
    ) -> tuple[int, bool]:
        """The batch, and whether it is new: one of the same kind, user and subject that runs is joined.

        `report` is kept with a new batch, to be read later.
        """
        ...

    def waits(self) -> Mapping[str, int]:
        """How many jobs wait in this process, by priority; nothing where others do the work."""
        ...

    def watch(self, batch_id: int) -> AsyncGenerator[BatchProgress, None]:
        """How the batch goes, each time that something has changed, until it has ended."""
        ...
