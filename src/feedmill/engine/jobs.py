"""Jobs: frozen values that carry ids. A job may be lost, repeated or late; the database row decides."""

from dataclasses import dataclass
from enum import IntEnum


class Priority(IntEnum):
    """Which jobs run first. Each engine also gives lower priorities a share."""

    MANUAL = 0
    SCHEDULED = 2


@dataclass(frozen=True, slots=True)
class RefreshFeed:
    """Refresh one feed. `token` is its claim if the scan already took one; `lane` is its host, a hint."""

    feed_id: int
    token: str | None = None
    batch_id: int | None = None
    lane: str = ""


@dataclass(frozen=True, slots=True)
class BatchComplete:
    """Every job of a batch has ended, successfully or not."""

    batch_id: int


@dataclass(frozen=True, slots=True)
class ScanComplete:
    """Every job of a scheduled scan has ended; the new images can be archived."""

    token: str


@dataclass(frozen=True, slots=True)
class ArchiveImages:
    """Archive the waiting images. Which ones is in the database."""


Job = RefreshFeed | BatchComplete | ScanComplete | ArchiveImages


def lane_of(job: Job) -> str:
    """Jobs of one lane run one after another; those without a lane don't wait for each other."""
    return job.lane if isinstance(job, RefreshFeed) else ""


def log_fields_of(job: Job) -> dict[str, object]:
    """The fields of each log line of a job."""
    known = {"feed_id": getattr(job, "feed_id", None), "batch_id": getattr(job, "batch_id", None), "host": lane_of(job)}
    return {"job": type(job).__name__, **{name: value for name, value in known.items() if value}}
