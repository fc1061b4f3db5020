"""PORT: starts batches of refreshes and watches them, in this process or in workers; starts the work on images."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Protocol

from feedmill.model.batch import BatchProgress


class JobPort(Protocol):
    """Batches of refreshes, started here and watched from anywhere."""

    async def refresh(
        self, kind: str, feed_ids: Sequence[int], user_id: int | None = None, about: str = "", report: str | None = None
    ) -> tuple[int, bool]:
        """Starts a batch, or joins the running one of the same kind, user and subject; its id, and whether it is new.

        `report` is kept with a new batch, to be read later.
        """
        ...

    async def archive_images(self) -> None:
        """Starts the work on images that wait, at once. Without it the next scan does, so a failure is not reported."""
        ...

    def waits(self) -> Mapping[str, int]:
        """The number of jobs that wait in this process, by priority; empty where workers do the work."""
        ...

    def watch(self, batch_id: int) -> AsyncGenerator[BatchProgress, None]:
        """The progress of the batch after each change, until it has ended."""
        ...
