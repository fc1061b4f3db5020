"""Logs outages of the database, the object store and Redis: one line at the beginning and one at the end.

Between the two, failures are counted and logged at level debug only.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from feedmill.errors import (
    BlobError,
    CoordinationUnavailable,
    DatabaseError,
    EngineUnavailable,
    InfrastructureError,
)
from feedmill.lazy_loggers import get_logger

log = get_logger(__name__)


@dataclass(slots=True)
class DependencyOutage:
    """An outage of a dependency: its start, the number of failures, and the affected tasks."""

    since: float
    failures: int = 0
    affected: set[str] = field(default_factory=set)


class DependencyOutages:
    """The current outages in this process. A task is a name, such as `refresh_feeds` or `deliver_webhooks`."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open: dict[str, DependencyOutage] = {}

    def failed(self, task: str, error: InfrastructureError) -> None:
        """Records that a task failed because a dependency does not answer."""
        dependency = dependency_of(error)
        if dependency not in self._open:
            self._open[dependency] = DependencyOutage(self._clock())
            log.error("outage_began", dependency=dependency, affected=task, reason=str(error))
        else:
            log.debug("outage_continues", dependency=dependency, affected=task, reason=str(error))
        outage = self._open[dependency]
        outage.failures += 1
        outage.affected.add(task)

    def worked(self, task: str) -> None:
        """Ends the outages that affected this task."""
        for dependency in [name for name, outage in self._open.items() if task in outage.affected]:
            self.answered(dependency)

    def answered(self, dependency: str) -> None:
        """Ends the outage of a dependency that has answered."""
        if dependency not in self._open:
            return
        outage = self._open.pop(dependency)
        seconds = round(self._clock() - outage.since, 1)
        log.warning(
            "outage_ended",
            dependency=dependency,
            seconds=seconds,
            failures=outage.failures,
            affected=sorted(outage.affected),
        )


def dependency_of(error: InfrastructureError) -> str:
    """The dependency that failed, by its name in `/health`."""
    match error:
        case DatabaseError():
            return "database"
        case BlobError():
            return "objects"
        case CoordinationUnavailable() | EngineUnavailable():
            return "redis"
    return "own"


REDIS = "redis"
DEPENDENCY_OUTAGES = DependencyOutages()
