"""What background tasks that make requests work with."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from feedmill.outbound.client import Client
from feedmill.store.database import Database


@dataclass(frozen=True, slots=True)
class OutboundTools:
    """The database, HTTP client and clock of a task. `soft_limit` is the time for the tasks that are leased at once.

    It is well within the lease, so that nobody else claims a task that is about to be done.
    """

    db: Database
    client: Client
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    soft_limit: timedelta = timedelta(seconds=80)
