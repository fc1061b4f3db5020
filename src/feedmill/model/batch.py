"""Batches of jobs, their progress, and the outcome of each feed."""

from dataclasses import dataclass
from datetime import datetime

from feedmill.i18n.messages import Message

# The kinds of batches, also shown on pages and in the API.
REFRESH_ALL, REFRESH_ONE, IMPORT = "refresh_all", "refresh", "import"


@dataclass(frozen=True, slots=True)
class Batch:
    """`done`, `new_entries` and `failed` count the jobs that have ended.

    `waiting`: it is unfinished, but no process works on it now; it will be resumed.
    """

    id: int
    kind: str
    user_id: int | None
    status: str
    total: int
    done: int
    new_entries: int
    failed: int
    created_at: datetime
    finished_at: datetime | None
    report: str | None = None
    waiting: bool = False


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """The outcome of one feed in a batch. `finished_at` is set once it is stored."""

    feed_id: int
    outcome: str
    new_entries: int = 0
    ms: int = 0
    message: Message | None = None
    finished_at: str = ""


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """A batch, the outcomes since the last report, and the feeds that this process fetches now."""

    batch: Batch
    ended: tuple[JobOutcome, ...]
    running: tuple[int, ...] = ()
