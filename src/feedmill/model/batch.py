"""Batches of jobs, their progress, and what came of each feed."""

from dataclasses import dataclass
from datetime import datetime

# What a batch is for, as pages and programs are told.
REFRESH_ALL, REFRESH_ONE, IMPORT = "refresh_all", "refresh", "import"


@dataclass(frozen=True, slots=True)
class Batch:
    """`done`, `new_entries` and `failed` count the jobs that have ended.

    `waiting`: it runs, but nobody works on it now; whoever resumes batches takes it up.
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
    """What came of one feed in a batch. `finished_at` is set once it has been written down."""

    feed_id: int
    outcome: str
    new_entries: int = 0
    ms: int = 0
    message: str | None = None
    finished_at: str = ""


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """How a batch stands, the feeds that ended since the last time, and those that this process fetches now."""

    batch: Batch
    ended: tuple[JobOutcome, ...]
    running: tuple[int, ...] = ()
