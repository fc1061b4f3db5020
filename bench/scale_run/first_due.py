"""When a feed that was postponed was due first, shared by all processes of a run.

A postponed feed gets a new due time, so its row no longer tells how late it is when it is fetched at last, perhaps by
another process. A file has a time for each feed; whoever holds the claim of a feed is alone with its time.
"""

import mmap
from datetime import datetime
from pathlib import Path

BYTES = 8


class FirstDue:
    def __init__(self, file: Path, feeds: int) -> None:
        size = BYTES * (feeds + 1)
        with file.open("ab") as new:
            new.truncate(size)
        with file.open("r+b") as shared:
            self._times = memoryview(mmap.mmap(shared.fileno(), size)).cast("d")

    def has(self, feed_id: int) -> bool:
        return bool(self._times[feed_id])

    def note(self, feed_id: int, due_at: datetime) -> None:
        """Keeps the first time of several."""
        if not self.has(feed_id):
            self._times[feed_id] = due_at.timestamp()

    def take(self, feed_id: int, due_at: datetime) -> float:
        """When the feed was due first, in seconds since 1970: `due_at` if it was not postponed. Forgets it."""
        first, self._times[feed_id] = self._times[feed_id], 0.0
        return first or due_at.timestamp()
