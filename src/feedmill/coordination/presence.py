"""PORT: which processes are running."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

# A process that has not announced itself for this long is gone.
PRESENCE_TIMEOUT = timedelta(seconds=15)


@dataclass(frozen=True, slots=True)
class RunningProcess:
    """A running process, and how long ago it last announced itself."""

    role: str
    name: str
    ago: timedelta


class Presence(Protocol):
    """The running processes. Raises `CoordinationUnavailable` when the shared service does not answer."""

    async def announce(self, role: str, name: str) -> None:
        """Announces this process as running, for `PRESENCE_TIMEOUT`."""

    async def withdraw(self, role: str, name: str) -> None:
        """Withdraws the announcement."""

    async def count_by_role(self) -> Mapping[str, int]:
        """How many processes of each role are running."""

    async def processes(self) -> Sequence[RunningProcess]:
        """The running processes, sorted by role and name."""
