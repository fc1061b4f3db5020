"""PORT: what can be seen of the other processes: who is at work, and how much waits for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

# A process that has not shown itself for so long is gone.
SEEN_FOR = timedelta(seconds=15)


@dataclass(frozen=True, slots=True)
class Seen:
    """A process at work, and how long ago it last showed itself."""

    role: str
    name: str
    ago: timedelta


class Sight(Protocol):
    """Raises `CoordinationUnavailable` when nothing can be seen now."""

    async def show(self, role: str, name: str) -> None:
        """Lets the others see for a while that this process is at work."""

    async def leave(self, role: str, name: str) -> None:
        """Lets them see at once that it is not any more."""

    async def present(self) -> Mapping[str, int]:
        """How many processes of each role are at work."""

    async def seen(self) -> Sequence[Seen]:
        """The processes at work, by role and name."""

    async def waiting(self, queues: Sequence[str]) -> Mapping[str, int]:
        """How many messages wait in each of these queues."""
