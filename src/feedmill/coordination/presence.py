"""PORT: which processes are running, and how many messages wait in their queues."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

# A process that has not shown itself for so long is gone.
PRESENCE_TIMEOUT = timedelta(seconds=15)


@dataclass(frozen=True, slots=True)
class RunningProcess:
    """A process at work, and how long ago it last showed itself."""

    role: str
    name: str
    ago: timedelta


class Presence(Protocol):
    """Raises `CoordinationUnavailable` when nothing can be seen now."""

    async def show(self, role: str, name: str) -> None:
        """Lets the others see for a while that this process is at work."""

    async def leave(self, role: str, name: str) -> None:
        """Lets them see at once that it is not any more."""

    async def present(self) -> Mapping[str, int]:
        """How many processes of each role are at work."""

    async def seen(self) -> Sequence[RunningProcess]:
        """The processes at work, by role and name."""

    async def waiting(self, queues: Sequence[str]) -> Mapping[str, int]:
        """How many messages wait in each of these queues."""
