"""Jobs: frozen values that carry ids. One may be lost, repeated or late; the row is the truth."""

from dataclasses import dataclass
from enum import IntEnum


class Priority(IntEnum):
    """What goes first. Lower classes still get their share (see the adapters)."""

    MANUAL = 0
    SCHEDULED = 2


@dataclass(frozen=True, slots=True)
class RefreshFeed:
    """Refresh one feed. `token` is its claim when the scan took one already; `lane` is its host, a hint."""

    feed_id: int
    token: str | None = None
    batch_id: int | None = None
    lane: str = ""


@dataclass(frozen=True, slots=True)
class BatchComplete:
    """Every job of a batch has ended, well or not."""

    batch_id: int


@dataclass(frozen=True, slots=True)
class ScanComplete:
    """Every feed of a scheduled scan has been seen to; what they brought waits for the image workers."""

    token: str


@dataclass(frozen=True, slots=True)
class ArchiveImages:
    """Images wait; whoever gets this works them off. It names none: the rows say which."""


Job = RefreshFeed | BatchComplete | ScanComplete | ArchiveImages


def lane_of(job: Job) -> str:
    """Jobs of one lane run one after another; those without a lane don't wait for each other."""
    return job.lane if isinstance(job, RefreshFeed) else ""


def log_fields_of(job: Job) -> dict[str, object]:
    """What each log line of a job says of it."""
    known = {name: getattr(job, name, None) for name in ("feed_id", "batch_id", "lane")}
    return {"job": type(job).__name__, **{name: value for name, value in known.items() if value}}
